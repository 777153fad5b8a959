//! What an answer decided, why, and the words for it.

use crate::Language;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Answerable,
    Abstain,
}

/// The closed list of reasons. A new one does not compile until it has its words in every language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Answered by quotation.
    Quoted,
    /// No chunk matched at all.
    NoHits,
    /// Chunks matched, but none contains what was asked for.
    NotInCorpus,
    /// Nothing could be retrieved because the vector store failed.
    RetrievalUnavailable,
    /// Nothing was found, but an embedder failed, so that only a part of the search took place.
    EmbeddingUnavailable,
    /// Nothing could be retrieved because the time was up.
    DeadlineExceeded,
}

impl Reason {
    pub const ALL: [Self; 6] = [
        Self::Quoted,
        Self::NoHits,
        Self::NotInCorpus,
        Self::RetrievalUnavailable,
        Self::EmbeddingUnavailable,
        Self::DeadlineExceeded,
    ];

    #[must_use]
    pub const fn decision(self) -> Decision {
        match self {
            Self::Quoted => Decision::Answerable,
            Self::NoHits
            | Self::NotInCorpus
            | Self::RetrievalUnavailable
            | Self::EmbeddingUnavailable
            | Self::DeadlineExceeded => Decision::Abstain,
        }
    }

    /// What to tell the person who asked when there is no answer; nothing for [`Self::Quoted`], whose answer is the quote.
    ///
    /// An outage never reads as "there is no such information".
    #[must_use]
    pub const fn message(self, language: Language) -> Option<&'static str> {
        use Language::{En, Fa, Vi};
        Some(match (self, language) {
            (Self::Quoted, _) => return None,
            (Self::NoHits, En) => "No document here matches the question.",
            (Self::NoHits, Fa) => "هیچ سندی در اینجا با این پرسش هم‌خوانی ندارد.",
            (Self::NoHits, Vi) => "Không có tài liệu nào ở đây khớp với câu hỏi.",
            (Self::NotInCorpus, En) => "The documents here do not contain an answer to this question.",
            (Self::NotInCorpus, Fa) => "در اسناد موجود پاسخی برای این پرسش نیست.",
            (Self::NotInCorpus, Vi) => "Các tài liệu ở đây không có câu trả lời cho câu hỏi này.",
            (Self::RetrievalUnavailable, En) => {
                "The documents cannot be searched at the moment. Please try again shortly."
            }
            (Self::RetrievalUnavailable, Fa) => "در حال حاضر جست‌وجو در اسناد ممکن نیست. لطفاً کمی بعد دوباره تلاش کنید.",
            (Self::RetrievalUnavailable, Vi) => "Hiện không thể tìm kiếm trong tài liệu. Vui lòng thử lại sau ít phút.",
            (Self::EmbeddingUnavailable, En) => {
                "Only a part of the search works at the moment, and it found no answer. Please try again shortly."
            }
            (Self::EmbeddingUnavailable, Fa) => {
                "در حال حاضر تنها بخشی از جست‌وجو کار می‌کند و پاسخی نیافت. لطفاً کمی بعد دوباره تلاش کنید."
            }
            (Self::EmbeddingUnavailable, Vi) => {
                "Hiện chỉ một phần của việc tìm kiếm hoạt động và chưa tìm thấy câu trả lời. Vui lòng thử lại sau ít phút."
            }
            (Self::DeadlineExceeded, En) => "The search took too long. Please try again shortly.",
            (Self::DeadlineExceeded, Fa) => "جست‌وجو بیش از حد طول کشید. لطفاً کمی بعد دوباره تلاش کنید.",
            (Self::DeadlineExceeded, Vi) => "Việc tìm kiếm mất quá nhiều thời gian. Vui lòng thử lại sau ít phút.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_without_an_answer_has_words_in_every_language() {
        for reason in Reason::ALL {
            for language in Language::ALL {
                assert_eq!(reason.message(language).is_some(), reason.decision() == Decision::Abstain, "{reason:?}");
            }
        }
    }
}
