//! What puts a configuration beside the functions, and makes releases of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FUNCTIONS: [&str; 3] = ["ingest", "processor", "sweeper"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn python(arguments: &[&str]) -> Output {
    let python = repository().join(".tools/venv/bin/python");
    Command::new(&python)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}; run make tools", python.display()))
}

fn package(arguments: &[&str]) -> Output {
    let script = repository().join("infra/package.py");
    python(&[&[script.to_str().unwrap()], arguments].concat())
}

/// A folder as a build leaves it, and a configuration, both made up.
struct Built {
    folder: PathBuf,
}

impl Built {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        for function in FUNCTIONS {
            fs::create_dir_all(folder.join("lambda").join(function)).unwrap();
            fs::write(folder.join("lambda").join(function).join("bootstrap"), function).unwrap();
        }
        fs::create_dir_all(folder.join("team/vendors")).unwrap();
        fs::create_dir_all(folder.join("team/keys/shop")).unwrap();
        fs::write(folder.join("team/vendors/own.toml"), "# own").unwrap();
        fs::write(folder.join("team/keys/shop/secret"), "invented").unwrap();
        // As the functions read it, and Python's TOML does not: braces over two lines.
        let endpoints = "[endpoint.a]\n# \"file:in/a/comment\", vendor = \"no\"\nvendor = \"stripe\"\nsecrets = [\"file:keys/{tenant}/secret\"]\n\
                         [destination]\npacking = { http = 'https://packing.example.com/#x',\n  timeout = \"1s\" }\n";
        fs::write(folder.join("team/endpoints.toml"), endpoints).unwrap();
        Self { folder }
    }

    fn at(&self, path: &str) -> String {
        self.folder.join(path).to_str().unwrap().to_owned()
    }

    fn configure(&self) -> Output {
        package(&["configure", &self.at("lambda"), &self.at("team/endpoints.toml")])
    }
}

#[test]
fn a_configuration_goes_beside_every_function_with_its_vendors_and_files() {
    let built = Built::new("package-configure");
    for _ in 0..2 {
        let done = built.configure();
        assert!(done.status.success(), "{done:?}");
    }
    for function in FUNCTIONS {
        let config = built.folder.join("lambda").join(function).join("config");
        assert!(config.join("endpoints.toml").is_file());
        assert_eq!(fs::read_to_string(config.join("vendors/own.toml")).unwrap(), "# own");
        assert_eq!(fs::read_to_string(config.join("keys/shop/secret")).unwrap(), "invented");
        assert!(config.join("../bootstrap").is_file());
    }
}

#[test]
fn a_vendor_that_was_taken_away_is_taken_away_there_too() {
    let built = Built::new("package-again");
    built.configure();
    fs::remove_file(built.folder.join("team/vendors/own.toml")).unwrap();
    assert!(built.configure().status.success());
    assert!(!built.folder.join("lambda/ingest/config/vendors/own.toml").exists());
}

/// A function with an endpoint whose vendor nobody describes does not start.
#[test]
fn a_vendor_that_is_neither_beside_the_endpoints_nor_built_in_is_refused_before_anything_is_replaced() {
    let built = Built::new("package-vendor");
    let text = "[endpoint]\na = { vendor = \"own\" }\n[endpoint.b]\nvendor = 'github'\n";
    fs::write(built.folder.join("team/endpoints.toml"), text).unwrap();
    assert!(built.configure().status.success());
    fs::remove_file(built.folder.join("team/vendors/own.toml")).unwrap();
    let refused = built.configure();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.trim_end().ends_with("nor built in: own"), "{said}");
    assert!(built.folder.join("lambda/ingest/config/vendors/own.toml").exists());
}

#[test]
fn an_architecture_that_aws_has_not_is_refused_before_anything_is_built() {
    // As by itself, though this test runs under `make`.
    let make = |arguments: &[&str]| {
        let mut make = Command::new("make");
        make.args(arguments).current_dir(repository()).env_remove("MAKELEVEL").env_remove("MAKEFLAGS");
        make.output().unwrap()
    };
    for word in ["foo", "aarch64", "amd64", "x86-64", "ARM64", ""] {
        let refused = make(&["architecture", &format!("ARCH={word}")]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success(), "{word}");
        assert!(said.contains(&format!("ARCH is arm64 or x86_64, not '{word}'")), "{said}");
    }
    for word in ["arm64", "x86_64"] {
        let known = make(&["architecture", &format!("ARCH={word}")]);
        assert!(known.status.success(), "{known:?}");
    }
    // It comes first: what would be done, without doing it.
    let plan = String::from_utf8(make(&["-n", "package", "ARCH=foo"]).stdout).unwrap();
    assert!(plan.starts_with("case 'foo' in"), "{plan}");
}

#[test]
fn what_is_named_and_missing_is_refused_in_one_sentence() {
    let built = Built::new("package-missing");
    fs::remove_dir_all(built.folder.join("team/keys")).unwrap();
    let refused = built.configure();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.lines().count() == 1, "{said}");
    assert!(said.contains("names files that are not beside it: keys"), "{said}");
    fs::remove_file(built.folder.join("lambda/sweeper/bootstrap")).unwrap();
    fs::write(built.folder.join("team/endpoints.toml"), "").unwrap();
    let refused = built.configure();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("sweeper has no bootstrap: run make package"));
}

#[test]
fn a_release_is_the_same_bytes_again_and_unpacks_to_what_sam_takes() {
    let built = Built::new("package-release");
    built.configure();
    let release = |target: &str| {
        let done = package(&["release", &built.at("lambda"), "x86_64", "1.2.3", &built.at(target)]);
        assert!(done.status.success(), "{done:?}");
        fs::read(built.at(target)).unwrap()
    };
    assert_eq!(release("one.zip"), release("two.zip"));
    let unpacked = built.at("unpacked");
    assert!(python(&["-m", "zipfile", "-e", &built.at("one.zip"), &unpacked]).status.success());
    let top = Path::new(&unpacked).join("sekali-1.2.3-x86_64");
    let template = fs::read_to_string(top.join("infra/template.yaml")).unwrap();
    assert!(template.contains("Default: x86_64\n"), "built for another architecture by default");
    for line in template.lines().filter_map(|line| line.trim().strip_prefix("CodeUri: ")) {
        let folder = top.join("infra").join(line);
        assert!(
            folder.join("bootstrap").is_file() && folder.join("config/endpoints.toml").is_file(),
            "{line}"
        );
    }
    for file in ["docs/deploy.md", "README.md", "infra/edge.yaml", "infra/scaling.py"] {
        assert!(top.join(file).is_file(), "{file}: the documents name it");
    }
    let same = |file: &str, as_in: &str| {
        assert_eq!(fs::read(top.join(file)).unwrap(), fs::read(built.at(as_in)).unwrap(), "{file}");
    };
    same("infra/endpoints.toml", "team/endpoints.toml");
    same("infra/vendors/own.toml", "team/vendors/own.toml");

    // As `docs/deploy.md` has it for a release: with these alone, anew.
    fs::remove_dir_all(top.join("infra/keys")).ok();
    fs::create_dir_all(top.join("infra/keys")).unwrap();
    let script = top.join("infra/package.py");
    let (lambda, endpoints) = (top.join("target/lambda"), top.join("infra/endpoints.toml"));
    let anew = [script.to_str(), Some("configure"), lambda.to_str(), endpoints.to_str()].map(Option::unwrap);
    let done = python(&anew);
    assert!(done.status.success(), "{done:?}");
    assert!(lambda.join("ingest/config/vendors/own.toml").is_file());
    fs::remove_file(top.join("infra/vendors/own.toml")).unwrap();
    let text = fs::read_to_string(&endpoints).unwrap().replace("stripe", "own");
    fs::write(&endpoints, text).unwrap();
    assert!(!python(&anew).status.success(), "a release knows which vendors are built in");
    let top = Path::new(&unpacked).join("sekali-1.2.3-x86_64");
    fs::remove_dir_all(top.join("target/lambda/ingest/config/keys")).unwrap();
    assert!(
        !top.join("target/lambda/ingest/config/keys").exists(),
        "a release that is handed on has no secrets"
    );
}

#[test]
fn a_function_that_outgrew_its_budget_is_not_released() {
    let built = Built::new("package-budget");
    built.configure();
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..6 * 1024 * 1024)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u8::try_from(state >> 56).unwrap()
        })
        .collect();
    fs::write(built.folder.join("lambda/processor/bootstrap"), noise).unwrap();
    let refused = package(&["release", &built.at("lambda"), "arm64", "1.2.3", &built.at("large.zip")]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("processor is larger than 5 MB zipped"));
}
