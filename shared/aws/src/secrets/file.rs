//! Secrets in files.

use super::secret;
use sekali::ports::NoSecret;
use sekali::secret::Secret;
use std::io::ErrorKind;
use std::path::Path;

/// Reads a file below `folder`, or at an absolute path. A text file ends with
/// a line end that is no part of the secret; anything else counts.
pub(super) fn read(folder: &Path, name: &str) -> Result<Secret, NoSecret> {
    let mut bytes = std::fs::read(folder.join(name)).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => NoSecret::Absent,
        ErrorKind::PermissionDenied => NoSecret::Denied(error.to_string()),
        _ => NoSecret::Unavailable(error.to_string()),
    })?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    secret(bytes, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes when the test does.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn with(files: &[(&str, &str)]) -> Self {
            use sekali::ports::Entropy;
            let name = format!("sekali-test-{}", crate::SystemEntropy::new().put());
            let folder = Self(std::env::temp_dir().join(name));
            for (file, content) in files {
                let path = folder.0.join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, content).unwrap();
            }
            folder
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_line_end_of_a_text_file_is_no_part_of_its_secret() {
        let folder = Folder::with(&[("a", "invented\n"), ("b", "invented\r\n"), ("c/d", " invented\n\n")]);
        assert_eq!(read(&folder.0, "a").unwrap().expose(), b"invented");
        assert_eq!(read(&folder.0, "b").unwrap().expose(), b"invented");
        assert_eq!(read(&folder.0, "c/d").unwrap().expose(), b" invented\n");
        let absolute = folder.0.join("a").display().to_string();
        assert_eq!(read(Path::new("/"), &absolute).unwrap().expose(), b"invented");
    }

    // INV-10
    #[test]
    fn a_file_that_is_not_there_or_blank_is_no_secret() {
        let folder = Folder::with(&[("blank", " \n")]);
        assert_eq!(read(&folder.0, "none"), Err(NoSecret::Absent));
        assert_eq!(read(&folder.0, "blank/none"), Err(NoSecret::Absent));
        assert!(matches!(read(&folder.0, "blank"), Err(NoSecret::Unusable(_))));
        assert!(matches!(read(&folder.0, "."), Err(NoSecret::Unavailable(_))));
    }
}
