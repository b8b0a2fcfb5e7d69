//! Values read from JSON without a tree, against the tree.

use sekali::json::{EachPath, cut, each, keys, read, text};
use sekali::source::Pointer;

const POINTERS: [&str; 9] = ["/a", "/a/b", "/a/b/0", "/0", "/0/a", "/b", "/a/a/a", "/id", "/~1"];
const PATHS: [&str; 5] = ["/*", "/a/*", "/a/*/b/*", "/*_e/*", "/a/b/*"];

/// Each value is the one that serde_json's tree has there, or nobody reads the
/// text at all; what is cut out leaves the rest as it was.
pub fn property(data: &[u8]) {
    let Ok(own) = text(data) else { return };
    // The tree's reader takes an object whose first member is called so for
    // something else; ours does not care.
    if own.contains("$serde_json::private") {
        return;
    }
    let pointers: Vec<Pointer> =
        POINTERS.iter().map(|text| Pointer::parse(text).expect("a pointer")).collect();
    let wanted: Vec<&Pointer> = pointers.iter().collect();
    let found = read(own, &wanted);
    let _ = keys(own);
    let tree: Option<serde_json::Value> = serde_json::from_str(own).ok();
    // The tree's reader gives up where something nests deeper than ours cares.
    if let (Ok(found), Some(tree)) = (&found, &tree) {
        for (pointer, found) in POINTERS.iter().zip(found) {
            let value = found.as_ref().map(|found| {
                assert_eq!(&own[found.span.clone()], found.json);
                serde_json::from_str::<serde_json::Value>(found.json).expect("a value")
            });
            assert_eq!(value.as_ref(), tree.pointer(pointer), "{pointer} in {own}");
        }
    }
    assert!(found.is_ok() || tree.is_none(), "{own}");
    for path in PATHS {
        let path = EachPath::parse(path).expect("a path");
        if let Ok(items) = each(own, &path) {
            for item in &items {
                assert_eq!(&own[item.span.clone()], item.json);
                assert_eq!(item.matched.len(), path.stars());
            }
        }
    }
    if let Ok(left) = cut(own, &wanted) {
        let left: usize = left.iter().map(|piece| piece.len()).sum();
        assert!(left <= own.len());
    }
}
