//! A team's own files: the endpoints, and the vendor descriptions beside them.

use anyhow::{Context, Result, ensure};
use sekali::config::File;
use sekali::vendor::{Vendor, builtin};
use std::fs;
use std::path::{Path, PathBuf};

/// Where the configuration lies in a checkout.
pub const ENDPOINTS: &str = "infra/endpoints.toml";

/// Where a team's own descriptions lie in it.
const VENDORS: &str = "infra/vendors";

/// The files as they are, read and not checked.
#[derive(Debug)]
pub struct Team {
    /// The endpoints' file as its reader names it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The folder in which it lies.
    pub folder: PathBuf,
    /// Name and text of each description.
    pub vendors: Vec<(String, String)>,
}

impl Team {
    /// Reads the file, or else the one of the checkout around us, and the
    /// descriptions in `vendors`, or else in the folder of that name beside it.
    ///
    /// # Errors
    /// A file cannot be read; what to do.
    pub fn read(endpoints: Option<&Path>, vendors: Option<&Path>) -> Result<Self> {
        let path = endpoints.map_or_else(found, |path| Ok(path.to_owned()))?;
        let text = fs::read_to_string(&path).with_context(|| {
            format!("cannot read the configuration {}; name another file", path.display())
        })?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let beside = folder.join("vendors");
        let vendors = match vendors {
            Some(folder) => descriptions(folder)?,
            None if beside.is_dir() => descriptions(&beside)?,
            None => Vec::new(),
        };
        Ok(Self { file: path.display().to_string(), text, folder, vendors })
    }

    /// The endpoints' file, as the configuration is read from it.
    pub fn endpoints(&self) -> File<'_> {
        (&self.file, &self.text)
    }

    /// The descriptions.
    pub fn descriptions(&self) -> Vec<File<'_>> {
        self.vendors.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
    }
}

/// The configuration of the checkout around the current folder.
fn found() -> Result<PathBuf> {
    let here = std::env::current_dir()?;
    if Path::new(ENDPOINTS).is_file() {
        return Ok(PathBuf::from(ENDPOINTS));
    }
    let mut around = here.ancestors().map(|folder| folder.join(ENDPOINTS));
    around
        .find(|path| path.is_file())
        .with_context(|| format!("there is no {ENDPOINTS} here or above; name the configuration's file"))
}

/// A team's own descriptions: those of the folder that is named, or else of the
/// checkout around us, or none.
///
/// # Errors
/// The folder that is named is none, or something in it cannot be read.
pub fn own(given: Option<&Path>) -> Result<Vec<(String, String)>> {
    if let Some(folder) = given {
        ensure!(folder.is_dir(), "{} is no folder with descriptions", folder.display());
        return descriptions(folder);
    }
    let here = std::env::current_dir()?;
    let mut around = here.ancestors().map(|folder| folder.join(VENDORS));
    around.find(|folder| folder.is_dir()).map_or(Ok(Vec::new()), |folder| descriptions(&folder))
}

/// The descriptions in a folder, sorted by name.
///
/// # Errors
/// The folder or one of them cannot be read.
pub fn descriptions(folder: &Path) -> Result<Vec<(String, String)>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("cannot read the descriptions in {}", folder.display()))?;
    let mut vendors = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            vendors.push((path.display().to_string(), text));
        }
    }
    vendors.sort();
    Ok(vendors)
}

/// A vendor's description by its name: one of these files, or a built-in one.
///
/// # Errors
/// There is none, or it is malformed.
pub fn vendor(name: &str, own: &[(String, String)]) -> Result<Vendor> {
    let stem = |file: &str| Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let own = own.iter().find(|(file, _)| stem(file).as_deref() == Some(name));
    let (file, text) = match own {
        Some((file, text)) => (file.clone(), text.as_str()),
        None => (format!("vendors/{name}.toml"), builtin::text(name).with_context(|| unknown(name))?),
    };
    Vendor::parse(name, &file, text).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(|problem| format!("  {problem}")).collect();
        anyhow::anyhow!("the description of {name} cannot be used:\n{}", lines.join("\n"))
    })
}

fn unknown(name: &str) -> String {
    match sekali::problem::nearest(name, builtin::names()) {
        Some(near) => format!("no description of a vendor \"{name}\"; did you mean \"{near}\"?"),
        None => format!("no description of a vendor \"{name}\"; give one of your own with --vendors FOLDER"),
    }
}
