//! Words that say nothing of what a text is about. Short on purpose: a word left in costs a little, one left out may be
//! the one that was asked for. Each list is written as it is folded.

use anchorage_domain::Language;
use std::sync::LazyLock;

const EN: &str = "a an the this that these those is are was were be been being am do does did done has have had having \
    of in on at to for from by with about into over under between as and or but nor not no if then than so such it its \
    he she they them his her their we us our you your i me my who whom whose which what when where why how will would \
    shall should can could may might must there here also too very just only own same some any each every all both many much long";

const FA: &str = "و در به از که این ان را با برای تا بر هم نیز یا اما ولی اگر چون هر یک چه چی کی کجا چرا چگونه چند \
    ایا است هست هستند بود بودند شد شده میشود باشد باشند دارد دارند داشت کرد کرده میکند کند کنند من تو او ما شما انها \
    ایشان خود دیگر همه همین همان پس پیش نه بی روی زیر باید شاید فقط خیلی چقدر های ها می";

const VI: &str = "là và của có cho với các những một này đó kia thì mà ở trong trên dưới từ đến được bị đã đang sẽ \
    không chưa cũng như hay hoặc nhưng nếu vì nên khi lúc ai gì nào sao đâu mấy bao nhiêu tôi bạn anh chị em họ chúng \
    ta nó ra vào lên xuống về theo tại do bởi rất chỉ vẫn còn lại nữa thế vậy à ạ nhé";

/// Whether a folded word is one of the language's stop words.
pub(super) fn contains(language: Language, word: &str) -> bool {
    let sorted = match language {
        Language::En => &SORTED_EN,
        Language::Fa => &SORTED_FA,
        Language::Vi => &SORTED_VI,
    };
    sorted.binary_search(&word).is_ok()
}

/// Sorted once, so that each of a text's words is compared with a handful.
static SORTED_EN: LazyLock<Vec<&str>> = LazyLock::new(|| sorted(EN));
static SORTED_FA: LazyLock<Vec<&str>> = LazyLock::new(|| sorted(FA));
static SORTED_VI: LazyLock<Vec<&str>> = LazyLock::new(|| sorted(VI));

fn sorted(list: &'static str) -> Vec<&'static str> {
    let mut words: Vec<_> = list.split_ascii_whitespace().collect();
    words.sort_unstable();
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;

    #[test]
    fn stop_words_are_written_as_they_are_folded() {
        for list in [EN, FA, VI] {
            for word in list.split_ascii_whitespace() {
                assert_eq!(fold(word).text, word);
            }
        }
    }

    #[test]
    fn every_stop_word_is_found_in_its_own_language() {
        for (language, list) in [(Language::En, EN), (Language::Fa, FA), (Language::Vi, VI)] {
            assert!(list.split_ascii_whitespace().all(|word| contains(language, word)));
            assert!(!contains(language, "") && !contains(language, "warranty"));
        }
    }
}
