use crate::{ANALYZER_VERSION, sparse_document, terms};
use anchorage_domain::{Language, SparseVector};
use serde_json::{Value, from_value, json};

/// Pins every term and weight: a difference here is a new version of the analyzer, and every stored vector is of the old one.
const GOLDEN: &str = include_str!("../../tests/golden/analyzer.json");

const TEXTS: [(Language, &str); 9] = [
    (Language::Fa, "كتاب هاي ١٢٣ و کتاب‌های ۴۵۶"),
    (Language::Fa, "من می‌روم، تو نمی روی، آن‌ها میروند."),
    (Language::Fa, "ضمانت باتری دستگاه دوازده ماه است و پس از آن تعمیر هزینه دارد."),
    (Language::Fa, "إسلام، قُرآن، مؤسسهٔ خانۀ بزرگ‌تر، شمـــاره ٪۲۵"),
    (Language::Fa, "مدل X-200 با پورت USB‌C در ۲۰۲۴/۰۵/۱۲ آمد"),
    (Language::Vi, "Liều dùng của thuốc này là 500 mg, hai lần mỗi ngày; đá không phải là da."),
    (Language::Vi, "Tie\u{302}\u{301}ng Việt có dấu: Đà Nẵng, Hà Nội"),
    (Language::En, "The battery is warranted for twelve months; the battery's charger isn't."),
    (Language::En, "Error E-404 at 10:30, v2.1.0 costs $1,299.50 (ﬁnal) CAFÉ café"),
];

#[test]
fn analyzer_agrees_with_its_golden_file() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(golden["version"], ANALYZER_VERSION);
    let pinned = golden["documents"].as_array().unwrap();
    assert_eq!(pinned.len(), TEXTS.len());
    for ((language, text), pinned) in TEXTS.into_iter().zip(pinned) {
        let vector = sparse_document(language, text);
        let terms: Vec<_> = terms(language, text).into_iter().map(|term| term.text).collect();
        let now = json!({"language": language, "text": text, "terms": terms, "vector": vector});
        for key in ["language", "text", "terms"] {
            assert_eq!(now[key], pinned[key], "{now}");
        }
        // As the numbers are stored: reading decimal text may miss the last bit of a wider type.
        assert_eq!(from_value::<SparseVector>(pinned["vector"].clone()).unwrap(), vector, "{now}");
    }
}
