//! A page's drawing instructions, as far as they place text: a small machine with a bound on its steps.
//!
//! Only what moves, sizes or shows text is followed; of pictures and drawings it is noted that they are there. Nothing
//! is painted, so colours, patterns and masks cost nothing. Text is taken whether or not it can be seen: an invisible
//! layer over a scanned page is that page's text.

use super::{
    drawn::{Drawn, Glyph, MAX_PAGE_GLYPHS, Steps, direction},
    fonts::{Fonts, Kind, Span},
    hidden::Hidden,
    inline::without_pictures,
    matrix::{Box2, Matrix},
    stream::{Budget, content},
};
use crate::ParseError;
use hayro_syntax::{
    content::{TypedIter, ops::TypedInstruction},
    object::{Array, Dict, Name, Object, Stream, dict_or_stream},
    page::Resources,
};

/// Deepest nesting of saved states; further ones are not saved.
const MAX_SAVED: usize = 512;
/// Deepest nesting of forms in forms.
const MAX_FORM_DEPTH: usize = 16;
#[derive(Debug, Clone, Copy)]
struct State {
    ctm: Matrix,
    font: Option<u16>,
    size: f32,
    char_space: f32,
    word_space: f32,
    scale: f32,
    leading: f32,
    rise: f32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Marked {
    /// Says in its own words what the glyphs inside stand for; where those begin.
    actual: Option<(Span, Kind, usize)>,
    pagination: bool,
    hidden: bool,
}

/// Follows the instructions of one document's pages.
pub(super) struct Machine<'d, 'a> {
    pub fonts: &'d mut Fonts<'a>,
    pub budget: &'d mut Budget,
    pub hidden: &'d Hidden,
    pub steps: &'d mut Steps,
    pub drawn: &'d mut Drawn,
}

impl<'a> Machine<'_, 'a> {
    /// Runs a stream of instructions from a fresh state.
    pub(super) fn run(&mut self, data: &[u8], resources: &Resources<'a>, ctm: Matrix) -> Result<(), ParseError> {
        let state =
            State { ctm, font: None, size: 1.0, char_space: 0.0, word_space: 0.0, scale: 1.0, leading: 0.0, rise: 0.0 };
        self.follow(data, resources, state, 0)
    }

    #[expect(clippy::too_many_lines, reason = "one arm an instruction; apart they would say less")]
    fn follow(&mut self, data: &[u8], resources: &Resources<'a>, state: State, depth: usize) -> Result<(), ParseError> {
        self.steps.follow(data.len())?;
        let (data, pictures) = without_pictures(data);
        self.drawn.pictures = self.drawn.pictures.saturating_add(pictures);
        let mut state = state;
        let mut saved: Vec<State> = Vec::new();
        let mut marked: Vec<Marked> = Vec::new();
        let mut fonts: Vec<(Vec<u8>, Option<u16>)> = Vec::new();
        let (mut line, mut text) = (Matrix::IDENTITY, Matrix::IDENTITY);
        let mut instructions = TypedIter::new(&data);
        while let Some(instruction) = instructions.next() {
            match instruction {
                TypedInstruction::SaveState(_) if saved.len() < MAX_SAVED => saved.push(state),
                TypedInstruction::RestoreState(_) => state = saved.pop().unwrap_or(state),
                TypedInstruction::Transform(m) => {
                    state.ctm = matrix([m.0, m.1, m.2, m.3, m.4, m.5].map(|n| n.as_f32())).then(state.ctm);
                }
                TypedInstruction::BeginText(_) => (line, text) = (Matrix::IDENTITY, Matrix::IDENTITY),
                TypedInstruction::SetTextMatrix(m) => {
                    line = matrix([m.0, m.1, m.2, m.3, m.4, m.5].map(|n| n.as_f32()));
                    text = line;
                }
                TypedInstruction::NextLine(n) => next_line(&mut line, &mut text, n.0.as_f32(), n.1.as_f32()),
                TypedInstruction::NextLineAndSetLeading(n) => {
                    state.leading = -n.1.as_f32();
                    next_line(&mut line, &mut text, n.0.as_f32(), n.1.as_f32());
                }
                TypedInstruction::NextLineUsingLeading(_) => next_line(&mut line, &mut text, 0.0, -state.leading),
                TypedInstruction::TextFont(font) => {
                    state.size = finite(font.1.as_f32());
                    let name = font.0.as_ref();
                    let known = fonts.iter().find(|(known, _)| known == name).map(|(_, index)| *index);
                    state.font = if let Some(index) = known {
                        index
                    } else {
                        let index = match resources.get_font(font.0) {
                            Some(dict) => self.fonts.load(&dict, self.budget)?,
                            None => self.fonts.fallback(),
                        };
                        fonts.push((name.to_vec(), index));
                        index
                    };
                }
                TypedInstruction::CharacterSpacing(n) => state.char_space = finite(n.0.as_f32()),
                TypedInstruction::WordSpacing(n) => state.word_space = finite(n.0.as_f32()),
                TypedInstruction::HorizontalScaling(n) => state.scale = finite(n.0.as_f32() / 100.0),
                TypedInstruction::TextLeading(n) => state.leading = finite(n.0.as_f32()),
                TypedInstruction::TextRise(n) => state.rise = finite(n.0.as_f32()),
                TypedInstruction::ShowText(s) => self.show(&state, &mut text, s.0.as_bytes(), &marked)?,
                TypedInstruction::NextLineAndShowText(s) => {
                    next_line(&mut line, &mut text, 0.0, -state.leading);
                    self.show(&state, &mut text, s.0.as_bytes(), &marked)?;
                }
                TypedInstruction::ShowTextWithParameters(s) => {
                    (state.word_space, state.char_space) = (finite(s.0.as_f32()), finite(s.1.as_f32()));
                    next_line(&mut line, &mut text, 0.0, -state.leading);
                    self.show(&state, &mut text, s.2.as_bytes(), &marked)?;
                }
                TypedInstruction::ShowTexts(all) => {
                    for object in all.0.iter::<Object<'_>>() {
                        match object {
                            Object::Number(n) => self.adjust(&state, &mut text, finite(n.as_f32())),
                            Object::String(string) => self.show(&state, &mut text, string.as_bytes(), &marked)?,
                            _ => {}
                        }
                    }
                }
                TypedInstruction::BeginMarkedContent(_) => {
                    marked.push(Marked { hidden: is_hidden(&marked), ..Marked::default() });
                }
                TypedInstruction::BeginMarkedContentWithProperties(tag) => {
                    let entry = self.marked(tag.0, tag.1, resources, &marked)?;
                    marked.push(entry);
                }
                TypedInstruction::EndMarkedContent(_) => {
                    if let Some(Marked { actual: Some((span, kind, start)), .. }) = marked.pop()
                        && !marked.iter().any(|outer| outer.actual.is_some())
                    {
                        self.replace(span, kind, start);
                    }
                }
                TypedInstruction::XObject(name) => {
                    if let Some(object) = resources.get_x_object(name.0)
                        && !is_hidden(&marked)
                    {
                        self.object(&object, resources, &state, depth)?;
                    }
                }
                TypedInstruction::StrokePath(_)
                | TypedInstruction::CloseAndStrokePath(_)
                | TypedInstruction::FillPathNonZero(_)
                | TypedInstruction::FillPathNonZeroCompatibility(_)
                | TypedInstruction::FillPathEvenOdd(_)
                | TypedInstruction::FillAndStrokeNonZero(_)
                | TypedInstruction::FillAndStrokeEvenOdd(_)
                | TypedInstruction::CloseFillAndStrokeNonZero(_)
                | TypedInstruction::CloseFillAndStrokeEvenOdd(_) => {
                    self.drawn.shapes = self.drawn.shapes.saturating_add(1);
                }
                _ => {}
            }
        }
        // What a stream opens ends with it.
        while let Some(entry) = marked.pop() {
            if let Marked { actual: Some((span, kind, start)), .. } = entry
                && !marked.iter().any(|outer| outer.actual.is_some())
            {
                self.replace(span, kind, start);
            }
        }
        Ok(())
    }

    /// Shows a string, glyph by glyph.
    fn show(&mut self, state: &State, text: &mut Matrix, bytes: &[u8], marked: &[Marked]) -> Result<(), ParseError> {
        let Some(font) = state.font.or_else(|| self.fonts.fallback()) else {
            self.drawn.damaged = true;
            return Ok(());
        };
        let (vertical, bold) = self.fonts.get(font).map_or((false, false), |entry| (entry.vertical, entry.bold));
        let hidden = is_hidden(marked);
        let pagination = marked.iter().any(|entry| entry.pagination);
        // The frame is the same for the whole string: only the place along it moves.
        let frame =
            Matrix([state.size * state.scale, 0.0, 0.0, state.size, 0.0, state.rise]).then(*text).then(state.ctm);
        let along = Matrix([state.scale, 0.0, 0.0, 1.0, 0.0, 0.0]).then(*text).then(state.ctm);
        let (dx, dy) = if vertical { along.turn(0.0, -1.0) } else { along.turn(1.0, 0.0) };
        let unit = dx.hypot(dy);
        let (ux, uy) = frame.turn(0.0, 1.0);
        let size = if vertical { frame.turn(1.0, 0.0).0.hypot(frame.turn(1.0, 0.0).1) } else { ux.hypot(uy) };
        let seen = unit.is_finite() && size.is_finite() && size > 0.0 && unit > 0.0 && !hidden;
        let angle = angle(dx, dy);
        let (mut at, mut moved) = (0, 0.0_f32);
        while let Some((code, number, length)) = self.fonts.read(font, bytes, at)? {
            at += length;
            let advance = code.advance * state.size;
            let word = if number == 32 && length == 1 { state.word_space } else { 0.0 };
            if seen {
                let (x, y) = along.apply(if vertical { 0.0 } else { moved }, if vertical { moved } else { 0.0 });
                let (rx, ry) = along.turn(0.0, state.rise);
                self.push(Glyph {
                    x: x + rx,
                    y: y + ry,
                    angle,
                    width: advance.abs() * unit,
                    spacing: state.char_space * unit,
                    size,
                    text: code.text,
                    kind: code.kind,
                    bold,
                    pagination,
                })?;
            }
            moved += advance + state.char_space + word;
        }
        *text = if vertical { Matrix::translation(0.0, moved) } else { Matrix::translation(moved * state.scale, 0.0) }
            .then(*text);
        Ok(())
    }

    fn push(&mut self, glyph: Glyph) -> Result<(), ParseError> {
        self.steps.show(&glyph)?;
        if self.drawn.glyphs.len() >= MAX_PAGE_GLYPHS {
            return Err(ParseError::TooLarge { limit: MAX_PAGE_GLYPHS as u64 });
        }
        if !glyph.x.is_finite() || !glyph.y.is_finite() || !glyph.width.is_finite() {
            return Ok(());
        }
        match glyph.kind {
            Kind::Space => {}
            Kind::Unknown => {
                self.drawn.shown += 1;
                self.drawn.unknown += 1;
            }
            _ => self.drawn.shown += 1,
        }
        self.drawn.glyphs.push(glyph);
        Ok(())
    }

    fn adjust(&self, state: &State, text: &mut Matrix, amount: f32) {
        let by = -amount / 1000.0 * state.size;
        let vertical = state.font.and_then(|font| self.fonts.get(font)).is_some_and(|font| font.vertical);
        let shift = if vertical { Matrix::translation(0.0, by) } else { Matrix::translation(by * state.scale, 0.0) };
        *text = shift.then(*text);
    }

    fn marked(
        &mut self,
        tag: &Name<'_>,
        properties: &Object<'_>,
        resources: &Resources<'a>,
        outer: &[Marked],
    ) -> Result<Marked, ParseError> {
        let mut entry = Marked { hidden: is_hidden(outer), ..Marked::default() };
        let named = properties.clone().into_name();
        let dict = match &named {
            Some(name) => resources.properties.get::<Dict<'_>>(name.as_ref()),
            None => dict_or_stream(properties).map(|(dict, _)| dict.clone()),
        };
        match tag.as_ref() {
            b"OC" => {
                if let (Some(name), Some(dict)) = (&named, &dict) {
                    entry.hidden |= self.hidden.hides(resources.properties.get_ref(name.as_ref()), dict);
                }
            }
            b"Artifact" => {
                let is_pagination =
                    |dict: &Dict<'_>| dict.get::<Name<'_>>("Type").is_some_and(|kind| kind.as_ref() == b"Pagination");
                entry.pagination = dict.as_ref().is_some_and(is_pagination);
            }
            _ => {}
        }
        if let Some(actual) = dict.and_then(|dict| dict.get::<hayro_syntax::object::String<'_>>("ActualText"))
            && !outer.iter().any(|outer| outer.actual.is_some())
        {
            let (span, kind) = self.fonts.text(&super::strings::decode(actual.as_bytes()))?;
            entry.actual = Some((span, kind, self.drawn.glyphs.len()));
        }
        Ok(entry)
    }

    /// Puts the text that a sequence says it stands for in the place of its glyphs.
    fn replace(&mut self, span: Span, kind: Kind, start: usize) {
        let glyphs = &mut self.drawn.glyphs;
        let Some(first) = glyphs.get(start).copied() else { return };
        let replaced = glyphs.get(start..).unwrap_or_default();
        let unknown = replaced.iter().filter(|glyph| glyph.kind == Kind::Unknown).count();
        let shown = replaced.iter().filter(|glyph| glyph.kind != Kind::Space).count();
        // The glyphs on the first one's line say how wide the text is; where it goes on elsewhere, it is said once.
        let (cos, sin) = direction(first.angle);
        let across = |glyph: &Glyph| glyph.y * cos - glyph.x * sin;
        let (mut from, mut to) = (f32::INFINITY, f32::NEG_INFINITY);
        let base = across(&first);
        for glyph in replaced.iter().filter(|glyph| (across(glyph) - base).abs() < first.size * 0.5) {
            let at = glyph.x * cos + glyph.y * sin;
            from = from.min(at);
            to = to.max(at + glyph.width);
        }
        glyphs.truncate(start);
        let drawn = &mut *self.drawn;
        drawn.unknown = drawn.unknown.saturating_sub(u32::try_from(unknown).unwrap_or(0));
        drawn.shown = drawn.shown.saturating_sub(u32::try_from(shown).unwrap_or(0));
        // Saying nothing, it still takes its room: what stands on both sides may be one word.
        let kind = if span.len == 0 { Kind::Plain } else { kind };
        drawn.shown += u32::from(kind != Kind::Space && span.len > 0);
        let shift = from - (first.x * cos + first.y * sin);
        drawn.glyphs.push(Glyph {
            x: first.x + shift * cos,
            y: first.y + shift * sin,
            width: (to - from).max(0.0),
            text: span,
            kind,
            ..first
        });
    }

    fn object(
        &mut self,
        object: &Stream<'a>,
        resources: &Resources<'a>,
        state: &State,
        depth: usize,
    ) -> Result<(), ParseError> {
        let dict = object.dict();
        match dict.get::<Name<'_>>("Subtype").as_deref() {
            Some(b"Image") => self.picture(state.ctm),
            Some(b"Form") if depth < MAX_FORM_DEPTH => {
                if let Some(group) = dict.get::<Dict<'_>>("OC")
                    && self.hidden.hides(dict.get_ref("OC"), &group)
                {
                    return Ok(());
                }
                let ctm = dict.get::<[f32; 6]>("Matrix").map_or(Matrix::IDENTITY, matrix).then(state.ctm);
                self.form(object, resources, State { ctm, ..*state }, depth + 1)?;
            }
            Some(b"Form") => self.drawn.damaged = true,
            _ => {}
        }
        Ok(())
    }

    fn form(
        &mut self,
        form: &Stream<'a>,
        resources: &Resources<'a>,
        state: State,
        depth: usize,
    ) -> Result<(), ParseError> {
        // What cannot be read was tried all the same.
        self.steps.follow(form.raw_data().len())?;
        let Some(data) = content(form, self.budget)? else {
            self.drawn.damaged = true;
            return Ok(());
        };
        let own = form.dict().get::<Dict<'a>>("Resources").map(Resources::new);
        self.follow(&data, own.as_ref().unwrap_or(resources), state, depth)
    }

    /// Shows an annotation's picture of itself inside its rectangle, as a reader would.
    pub(super) fn appearance(&mut self, form: &Stream<'a>, rect: Box2) -> Result<(), ParseError> {
        let dict = form.dict();
        let own = dict.get::<[f32; 6]>("Matrix").map_or(Matrix::IDENTITY, matrix);
        let Some([x0, y0, x1, y1]) = dict.get::<[f32; 4]>("BBox") else { return Ok(()) };
        let around = own.around(Box2 { x0: x0.min(x1), y0: y0.min(y1), x1: x0.max(x1), y1: y0.max(y1) });
        if around.width() <= 0.0 || around.height() <= 0.0 {
            return Ok(());
        }
        let (sx, sy) = (rect.width() / around.width(), rect.height() / around.height());
        let fit = Matrix([sx, 0.0, 0.0, sy, rect.x0 - around.x0 * sx, rect.y0 - around.y0 * sy]);
        let Some(data) = content(form, self.budget)? else { return Ok(()) };
        let resources = Resources::new(dict.get::<Dict<'a>>("Resources").unwrap_or_default());
        self.run(&data, &resources, own.then(fit))
    }

    /// A picture fills the unit square of its state.
    fn picture(&mut self, ctm: Matrix) {
        let [a, b, c, d, ..] = ctm.0;
        self.drawn.pictures = self.drawn.pictures.saturating_add(1);
        self.drawn.largest_picture = self.drawn.largest_picture.max((a * d - b * c).abs());
    }
}

fn is_hidden(marked: &[Marked]) -> bool {
    marked.last().is_some_and(|entry| entry.hidden)
}

fn finite(n: f32) -> f32 {
    if n.is_finite() { n } else { 0.0 }
}

fn matrix(numbers: [f32; 6]) -> Matrix {
    Matrix(numbers.map(finite))
}

fn next_line(line: &mut Matrix, text: &mut Matrix, x: f32, y: f32) {
    *line = Matrix::translation(finite(x), finite(y)).then(*line);
    *text = *line;
}

/// Whole degrees from the right, counter-clockwise; upright text is 0, whatever a page's own turn.
#[expect(clippy::cast_possible_truncation, reason = "at most 360")]
fn angle(dx: f32, dy: f32) -> i16 {
    let degrees = dy.atan2(dx).to_degrees().round() as i16;
    degrees.rem_euclid(360)
}

/// All of an array, or the one that stands in its place.
pub(super) fn streams<'a>(dict: &Dict<'a>, key: &str) -> Vec<Stream<'a>> {
    match dict.get::<Object<'a>>(key) {
        Some(Object::Stream(stream)) => vec![stream],
        Some(Object::Array(array)) => all_streams(&array),
        _ => Vec::new(),
    }
}

fn all_streams<'a>(array: &Array<'a>) -> Vec<Stream<'a>> {
    array.iter::<Object<'a>>().filter_map(Object::into_stream).collect()
}
