//! Text, measured and drawn with the embedded font.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, FontTransform, TextStyle};

use super::figure::Point;
use super::style::BLACK;

static FONT: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(dejavu::sans::regular()).ok());
/// As CSS: an SVG shown where the font is not installed falls back to another sans-serif.
const FAMILY: &str = "DejaVu Sans, sans-serif";
/// Half the height of a capital.
const HALF_CAPITAL_EM: f64 = 0.365;
const X_HEIGHT_EM: f64 = 0.547;

/// Which end of a text its position is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Center,
    Right,
}

/// The style of a text for the SVG backend, and where to put it so that its capitals are centred on `at`.
pub(super) fn svg_style(
    at: Point,
    em: f64,
    align: Align,
    upright: bool,
    scale: f64,
) -> (TextStyle<'static>, Point) {
    let h_pos = match align {
        Align::Left => HPos::Left,
        Align::Center => HPos::Center,
        Align::Right => HPos::Right,
    };
    // The backend divides font sizes by 1.24, and puts the baseline 0.5 ex below the position.
    let font = FontDesc::new(FontFamily::Name(FAMILY), 1.24 * em * scale, FontStyle::Normal);
    let font = if upright { font.transform(FontTransform::Rotate270) } else { font };
    let style = TextStyle::from(font).color(&BLACK).pos(Pos::new(h_pos, VPos::Center));
    let down = (HALF_CAPITAL_EM - 0.5 * X_HEIGHT_EM) * em;
    (style, if upright { (at.0 + down, at.1) } else { (at.0, at.1 + down) })
}

/// A pixel of a bitmap, and how much of it is covered, 0..1.
pub(super) type Cover = ((i32, i32), f64);

/// The pixels that a text covers, with its capitals centred on `at`; `None` without a font. plotters' own
/// text leaves out the space before each glyph, which makes letters stand unevenly.
pub(super) fn covers(
    text: &str,
    at: Point,
    em: f64,
    align: Align,
    upright: bool,
    scale: f64,
) -> Option<Vec<Cover>> {
    let font = FONT.as_ref()?;
    let (glyphs, width) = layout(font, text, em * scale);
    let back = match align {
        Align::Left => 0.0,
        Align::Center => width / 2.0,
        Align::Right => width,
    };
    let origin = ((at.0 * scale).round() as i32, (at.1 * scale).round() as i32);
    let down = HALF_CAPITAL_EM * em * scale;
    let mut covers = Vec::new();
    for mut glyph in glyphs {
        glyph.position.x -= back as f32;
        glyph.position.y += down as f32;
        let Some(outline) = font.outline_glyph(glyph) else { continue };
        let corner = outline.px_bounds().min;
        outline.draw(|x, y, cover| {
            let (x, y) = (x as i32 + corner.x as i32, y as i32 + corner.y as i32);
            let (x, y) = if upright { (y, -x) } else { (x, y) };
            if cover > 0.0 {
                covers.push(((origin.0 + x, origin.1 + y), f64::from(cover.min(1.0))));
            }
        });
    }
    Some(covers)
}

/// Glyphs on a baseline from the origin, and the width of all.
fn layout(font: &FontRef<'_>, text: &str, em: f64) -> (Vec<Glyph>, f64) {
    // The font's scale is that of ascent plus descent.
    let per_em = font.units_per_em().map_or(1.0, |units| font.height_unscaled() / units);
    let scaled = font.as_scaled(PxScale::from(em as f32 * per_em));
    let mut glyphs: Vec<Glyph> = Vec::new();
    let mut x = 0.0;
    for letter in text.chars() {
        let id = scaled.glyph_id(letter);
        if let Some(before) = glyphs.last() {
            x += scaled.kern(before.id, id);
        }
        glyphs.push(id.with_scale_and_position(scaled.scale(), point(x, 0.0)));
        x += scaled.h_advance(id);
    }
    (glyphs, f64::from(x))
}

/// The width of a text.
pub(super) fn text_width(text: &str, em: f64) -> f64 {
    FONT.as_ref().map_or(0.0, |font| layout(font, text, em).1)
}

/// The text, or as much of it as fits into `width` with an ellipsis.
pub(super) fn fitted(text: &str, em: f64, width: f64) -> String {
    let mut fitting = text.to_owned();
    let mut kept = text.chars().count();
    while kept > 1 && text_width(&fitting, em) > width {
        kept -= 1;
        fitting = text.chars().take(kept).chain(['…']).collect();
    }
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_the_fonts() {
        // A figure's width in DejaVu Sans is 1303 of 2048 units.
        assert!((text_width("00", 20.48) - 26.06).abs() < 1e-3);
    }

    #[test]
    fn long_texts_are_cut_to_fit() {
        assert_eq!(fitted("philly", 20.0, 200.0), "philly");
        let cut = fitted("a-trace-with-a-very-long-name", 20.0, 100.0);
        assert!(cut.ends_with('…') && text_width(&cut, 20.0) <= 100.0, "{cut}");
    }
}
