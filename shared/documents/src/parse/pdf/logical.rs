//! From the order in which text stands to the order in which it is read.
//!
//! A page holds glyphs where they are seen. Where a line runs from right to left, its clusters are taken from the right,
//! each whole (a ligature's letters stay in their own order), and what runs from left to right inside it (Latin words,
//! numbers with their separators) keeps its order. That is the bidirectional algorithm (UAX #9) backwards, as far as what
//! is seen tells.

/// Scripts that run from right to left, digits apart.
pub(super) const fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{65f}' | '\u{66a}'..='\u{6ef}' | '\u{6fa}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    ) && !is_right_to_left_mark(c)
        && !matches!(c, '\u{60c}' | '\u{61b}' | '\u{66a}'..='\u{66c}' | '\u{6d4}' | '\u{609}' | '\u{60a}')
}

/// Points and vowels of those scripts: they sit on a letter and take no room of their own.
pub(super) const fn is_right_to_left_mark(c: char) -> bool {
    matches!(
        c,
        '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
            | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}'
            | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{8d3}'..='\u{8e1}' | '\u{8e3}'..='\u{8ff}' | '\u{fb1e}'
    )
}

/// What a cluster is to its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Left,
    Right,
    Number,
    /// Goes with numbers that it stands between.
    Separator,
    /// Goes with numbers that it stands between, where no Arabic letter comes before.
    Hyphen,
    /// Goes with a number that it touches, where no Arabic letter comes before.
    Sign,
    Neutral,
}

/// A line as it is seen: clusters from left to right, each a piece of `text`.
#[derive(Debug, Default)]
pub(super) struct Seen {
    text: String,
    clusters: Vec<(usize, Class)>,
    right: u32,
    left: u32,
    order: Vec<(usize, usize, bool)>,
    /// For each cluster, whether the last letter before it runs from left to right.
    after_left: Vec<bool>,
}

impl Seen {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.clusters.clear();
        (self.right, self.left) = (0, 0);
    }

    pub(super) fn push(&mut self, cluster: &str) {
        let class = classify(cluster);
        let letters = u32::try_from(cluster.chars().count()).unwrap_or(u32::MAX);
        match class {
            Class::Right => self.right = self.right.saturating_add(letters),
            Class::Left => self.left = self.left.saturating_add(letters),
            _ => {}
        }
        self.clusters.push((self.text.len(), class));
        self.text.push_str(cluster);
    }

    /// Adds a mark to the cluster before it.
    pub(super) fn push_mark(&mut self, mark: &str) {
        if self.clusters.is_empty() {
            self.push(mark);
        } else {
            self.text.push_str(mark);
        }
    }

    fn cluster(&self, index: usize) -> &str {
        let start = self.clusters.get(index).map_or(0, |(start, _)| *start);
        let end = self.clusters.get(index + 1).map_or(self.text.len(), |(start, _)| *start);
        self.text.get(start..end).unwrap_or_default()
    }

    fn class(&self, index: usize) -> Option<Class> {
        self.clusters.get(index).map(|(_, class)| *class)
    }

    /// Whether the line as a whole runs from right to left. Among lines that do, one that holds a few of their letters
    /// runs as they do.
    pub(super) fn runs_right_to_left(&self, among: bool) -> bool {
        self.right > 0 && (self.right >= self.left || among)
    }

    /// Brackets that do not pair when the line is read as they are written, and when each is turned around.
    pub(super) fn bracket_faults(&mut self, right_to_left: bool) -> (u32, u32) {
        self.arrange(right_to_left);
        let (mut plain, mut turned) = (Pairs::default(), Pairs::default());
        for (from, to, reversed) in &self.order {
            if *reversed && to - from == 1 {
                let mut chars = self.cluster(*from).chars();
                if let (Some(c), None) = (chars.next(), chars.next()) {
                    plain.read(c);
                    turned.read(mirror(c));
                }
            }
        }
        (plain.faults(), turned.faults())
    }

    /// Writes the line in the order it is read.
    pub(super) fn write(&mut self, right_to_left: bool, turn_brackets: bool, out: &mut String) {
        self.arrange(right_to_left);
        for (from, to, reversed) in &self.order {
            for index in *from..*to {
                let cluster = self.cluster(index);
                match cluster.chars().next() {
                    Some(c) if *reversed && turn_brackets && cluster.len() == c.len_utf8() => out.push(mirror(c)),
                    _ => out.push_str(cluster),
                }
            }
        }
    }

    /// Cuts the line into runs as they are read: from, to, and whether it is a single cluster of a reversed stretch.
    fn arrange(&mut self, right_to_left: bool) {
        self.resolve_numbers(right_to_left);
        self.order.clear();
        let count = self.clusters.len();
        if right_to_left {
            let mut end = count;
            while end > 0 {
                let start = self.left_run_start(end);
                if start < end {
                    self.order.push((start, end, false));
                    end = start;
                } else {
                    self.order.push((end - 1, end, true));
                    end -= 1;
                }
            }
            return;
        }
        let mut start = 0;
        while start < count {
            let mut end = start;
            if self.class(start) == Some(Class::Right) {
                // As far as the last cluster that runs from right to left, with nothing that runs the other way between.
                let mut at = start;
                while let Some(class) = self.class(at).filter(|class| *class != Class::Left) {
                    at += 1;
                    if class == Class::Right {
                        end = at;
                    }
                }
                self.reverse(start, end);
                start = end;
            } else {
                while self.class(end).is_some_and(|class| class != Class::Right) {
                    end += 1;
                }
                self.order.push((start, end, false));
                start = end;
            }
        }
    }

    /// A stretch from right to left inside a line that runs the other way: numbers stay as they are.
    fn reverse(&mut self, start: usize, end: usize) {
        let mut to = end;
        while to > start {
            let mut from = to;
            while from > start && self.class(from - 1) == Some(Class::Number) {
                from -= 1;
            }
            if from == to {
                from -= 1;
                self.order.push((from, to, true));
            } else {
                self.order.push((from, to, false));
            }
            to = from;
        }
    }

    /// Where the run from left to right that ends before `end` starts; `end` when there is none.
    fn left_run_start(&self, end: usize) -> usize {
        let mut start = end;
        let mut at = end;
        let mut has_left = false;
        while at > 0 {
            match self.class(at - 1) {
                Some(Class::Left) => {
                    at -= 1;
                    start = at;
                    has_left = true;
                }
                // A number goes with a word to its left, across what stands between; and with one that it touches.
                Some(Class::Number) if start == at || has_left => {
                    at -= 1;
                    if start == at + 1 || self.joins_left(at) {
                        start = at;
                    }
                }
                Some(Class::Right) | None => break,
                // What is neutral belongs to the run only when the run goes on beyond it.
                Some(_) if start < end && self.joins_left(at - 1) => at -= 1,
                Some(_) => break,
            }
        }
        start
    }

    /// Whether a word that runs from left to right is the next thing to the left that is not neutral.
    fn joins_left(&self, index: usize) -> bool {
        self.after_left.get(index).copied().unwrap_or(false)
    }

    /// Joins to numbers what belongs to them (rules W2 to W5), as far as the letter before tells, which in a line from
    /// right to left stands to the right.
    fn resolve_numbers(&mut self, right_to_left: bool) {
        self.after_left.clear();
        let mut after_left = false;
        for index in 0..self.clusters.len() {
            self.after_left.push(after_left);
            match self.class(index) {
                Some(Class::Left) => after_left = true,
                Some(Class::Right) => after_left = false,
                _ => {}
            }
        }
        let count = self.clusters.len();
        let mut after_arabic = false;
        for step in 0..count {
            let index = if right_to_left { count - 1 - step } else { step };
            let before = index.checked_sub(1).and_then(|before| self.class(before));
            let after = self.class(index + 1);
            let is_between = before == Some(Class::Number) && after == Some(Class::Number);
            let is_beside = before == Some(Class::Number) || after == Some(Class::Number);
            let joins = match self.class(index) {
                Some(Class::Left) => {
                    after_arabic = false;
                    false
                }
                Some(Class::Right) => {
                    after_arabic = self.cluster(index).chars().any(is_arabic);
                    false
                }
                Some(Class::Separator) => is_between,
                Some(Class::Hyphen) => is_between && !after_arabic,
                Some(Class::Sign) => is_beside && !after_arabic,
                Some(Class::Number | Class::Neutral) | None => false,
            };
            if joins && let Some((_, class)) = self.clusters.get_mut(index) {
                *class = Class::Number;
            }
        }
    }
}

/// Letters of the Arabic script, and of those that follow its rules.
const fn is_arabic(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{7bf}' | '\u{860}'..='\u{8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}')
}

/// Brackets read one after the other.
#[derive(Debug, Default)]
struct Pairs {
    open: u32,
    unopened: u32,
}

impl Pairs {
    fn read(&mut self, c: char) {
        match c {
            '(' | '[' | '{' | '«' => self.open += 1,
            ')' | ']' | '}' | '»' if self.open > 0 => self.open -= 1,
            ')' | ']' | '}' | '»' => self.unopened += 1,
            _ => {}
        }
    }

    const fn faults(&self) -> u32 {
        self.open + self.unopened
    }
}

fn classify(cluster: &str) -> Class {
    let mut class = Class::Neutral;
    for c in cluster.chars() {
        if is_right_to_left(c) {
            return Class::Right;
        }
        match c {
            '0'..='9' | '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}' if class == Class::Neutral => {
                class = Class::Number;
            }
            '.' | ',' | '/' | ':' | '\u{60c}' | '\u{66b}' | '\u{66c}' if class == Class::Neutral => {
                class = Class::Separator;
            }
            '-' | '+' | '\u{2212}' if class == Class::Neutral => class = Class::Hyphen,
            '%' | '$' | '€' | '£' | '#' | '°' | '\u{66a}' | '‰' if class == Class::Neutral => class = Class::Sign,
            _ if c.is_alphabetic() => return Class::Left,
            _ => {}
        }
    }
    class
}

/// The other half of a pair.
const fn mirror(c: char) -> char {
    match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        '‹' => '›',
        '›' => '‹',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(clusters: &[&str], right_to_left: bool, turn: bool) -> String {
        let mut seen = Seen::default();
        for cluster in clusters {
            seen.push(cluster);
        }
        let mut out = String::new();
        seen.write(right_to_left, turn, &mut out);
        out
    }

    fn each(text: &str) -> Vec<&str> {
        text.split_inclusive(|_: char| true).collect()
    }

    /// What is seen from left to right, on the left; what is read, on the right. Letters stand for themselves.
    #[test]
    fn write_reads_what_is_seen() {
        for (seen, right_to_left, expected) in [
            ("یسراف", true, "فارسی"),
            ("plain text", false, "plain text"),
            (".دش Python نابز", true, "زبان Python شد."),
            ("تسا %12.5 خرن", true, "نرخ 12.5% است"),
            ("تسا 0123-021 نفلت", true, "تلفن 021-0123 است"),
            ("דבכ 12.5% רקי", true, "יקר 12.5% כבד"),
            ("1403/05/12 خیرات", true, "تاریخ 1403/05/12"),
            ("زا Amazon Web Services تمدخ", true, "خدمت Amazon Web Services از"),
            ("دراد Python 3.12 هخسن", true, "نسخه Python 3.12 دارد"),
            ("the word باتک means book", false, "the word کتاب means book"),
            ("see ۱۲ باتک and more", false, "see ۱۲ کتاب and more"),
            ("a باتک 25 نتم z", false, "a متن 25 کتاب z"),
        ] {
            assert_eq!(read(&each(seen), right_to_left, true), expected, "{seen}");
        }
    }

    #[test]
    fn write_keeps_a_ligature_whole_and_turns_brackets_where_they_are_drawn_turned() {
        assert_eq!(read(&["ت", "لا", "ک", "ش", "م"], true, true), "مشکلات");
        assert_eq!(read(&each("(AWS) ربا"), true, true), "ابر (AWS)");
        assert_eq!(read(&each(")AWS( ربا"), true, false), "ابر (AWS)");
    }

    #[test]
    fn bracket_faults_tell_which_way_brackets_are_drawn() {
        for (seen, expected) in [("(AWS) ربا", (2, 0)), (")AWS( ربا", (0, 2))] {
            let mut line = Seen::default();
            for cluster in each(seen) {
                line.push(cluster);
            }
            assert_eq!(line.bracket_faults(true), expected, "{seen}");
        }
    }
}
