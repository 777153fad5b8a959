use anchorage_documents::{ANALYZER_VERSION, CHUNKER_VERSION};
use anchorage_ports::{IndexManifest, VectorSpec};

/// What a collection for these vectors has to be built with by this version of the service. The order in which the
/// vectors are configured makes no difference.
#[must_use]
pub fn index_manifest(mut vectors: Vec<VectorSpec>) -> IndexManifest {
    vectors.sort();
    IndexManifest { vectors, analyzer: ANALYZER_VERSION.to_owned(), chunker: CHUNKER_VERSION.to_owned() }
}
