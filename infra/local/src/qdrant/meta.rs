//! What is known of a collection besides its points, and small files that change atomically.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use prost::Message as _;
use qdrant_client::qdrant::CollectionInfo;

/// The description of a collection, beside the engine's own files.
const META_FILE: &str = "collection.pb";

/// Replaces `name` in `folder` so that a reader, or a start after a kill, sees the old bytes or the new ones.
pub(super) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let fresh = folder.join(format!(".{name}.new"));
    let mut file = File::create(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&fresh, folder.join(name))?;
    sync_folder(folder)
}

/// A rename is durable only once its folder is.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Writes the description of a collection. It is kept in the API's own message, the shape it is asked for in.
pub(super) fn save(folder: &Path, info: &CollectionInfo) -> io::Result<()> {
    replace(folder, META_FILE, &info.encode_to_vec())
}

/// Reads the description of a collection.
pub(super) fn load(folder: &Path) -> io::Result<CollectionInfo> {
    let bytes = fs::read(folder.join(META_FILE))?;
    CollectionInfo::decode(bytes.as_slice()).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
