use crate::{
    binaries::FUNCTIONS,
    failure::{Doing as _, Failure},
    progress::{note, result},
    project::Project,
    run, setup,
};
use std::fs;

/// The most bytes of one function's zip.
const MAX_ZIP_BYTES: u64 = 8 * 1024 * 1024;
/// The newest GNU C library symbols that the functions' runtime has.
const MAX_GLIBC: (u32, u32) = (2, 34);
const GLIBC_MARK: &[u8] = b"GLIBC_";

pub fn package(project: &Project) -> Result<(), Failure> {
    let tools = setup::setup(project)?;
    let zips = project.local().join("package");
    // First what is measured, then what the template points at: the second only copies.
    for (format, folder) in [("zip", &zips), ("binary", &project.local().join("lambda"))] {
        note(&format!("building the functions for AWS ({format}) …"));
        let mut cargo = run::builder(tools.stack("cargo-lambda"), project.root());
        // Its linker is installed beside it, and found through that environment's interpreter.
        let beside = tools.stack("").display().to_string();
        cargo.env("PATH", format!("{beside}:{}", run::search_path()));
        // It would fetch a target that is installed already, or stop where there is no network.
        cargo.env("RUSTUP_DIST_SERVER", "http://127.0.0.1:9");
        cargo.args(["lambda", "build", "--release", "--x86-64", "--output-format", format, "--lambda-dir"]).arg(folder);
        for name in FUNCTIONS {
            cargo.args(["--package", name]);
        }
        run::must_show(&mut cargo)?;
    }
    let mut wrong = Vec::new();
    for name in FUNCTIONS {
        let zip = zips.join(name).join("bootstrap.zip");
        let bytes = fs::metadata(&zip).at("measuring", &zip)?.len();
        let bootstrap = project.function(name).join("bootstrap");
        let (major, minor) = newest_glibc(&fs::read(&bootstrap).at("reading", &bootstrap)?);
        let kib = bytes.div_ceil(1024);
        result(&format!("{name:12} {kib:6} KiB  glibc {major}.{minor}")).doing("printing")?;
        if bytes > MAX_ZIP_BYTES {
            wrong.push(format!("{name} is larger than {MAX_ZIP_BYTES} bytes"));
        }
        if (major, minor) > MAX_GLIBC {
            wrong.push(format!("{name} needs a newer C library than its runtime has"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::said(wrong.join("\n"))) }
}

/// The newest version among the program's versioned symbols.
fn newest_glibc(program: &[u8]) -> (u32, u32) {
    let marks = program.windows(GLIBC_MARK.len()).enumerate().filter(|(_, window)| *window == GLIBC_MARK);
    let versions = marks.filter_map(|(at, _)| {
        let rest = program.get(at + GLIBC_MARK.len()..)?;
        let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let mut parts = std::str::from_utf8(rest.get(..end)?).ok()?.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    });
    versions.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_glibc_compares_numbers_and_skips_what_is_none() {
        for (program, expected) in [
            (&b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0"[..], (2, 34)),
            (b"GLIBC_PRIVATE\0GLIBC_2.17\0", (2, 17)),
            (b"static", (0, 0)),
        ] {
            assert_eq!(newest_glibc(program), expected);
        }
    }
}
