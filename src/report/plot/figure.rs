//! A figure as a list of shapes, drawn on any backend of plotters.

use plotters::prelude::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::style::{Color, RGBColor, ShapeStyle};

use super::style::{BLACK, Dash, WHITE};
use super::text::{self, Align};

/// Pixels of the files per unit of the figure: 545 to the inch at a column of 3.3 in.
const SCALE: f64 = 2.0;
/// Pixels rendered per pixel of the PNG, each way; averaged, for smooth edges.
const OVERSAMPLING: usize = 2;
/// A point, in units of the figure from its upper left corner.
pub(super) type Point = (f64, f64);

#[derive(Debug, Clone)]
enum Shape {
    Polygon { points: Vec<Point>, color: RGBColor },
    Rect { from: Point, to: Point, color: RGBColor },
    Path { points: Vec<Point>, color: RGBColor, width: f64 },
    Text { text: String, at: Point, em: f64, align: Align, upright: bool },
}

/// A drawing, ready to be written.
#[derive(Debug, Clone)]
pub struct Figure {
    width: f64,
    height: f64,
    shapes: Vec<Shape>,
}

/// What a backend does its own way.
#[derive(Clone, Copy, PartialEq)]
enum Medium {
    Svg,
    Bitmap,
}

impl Figure {
    pub(super) fn new(width: f64, height: f64) -> Figure {
        Figure { width, height, shapes: Vec::new() }
    }

    pub(super) fn rect(&mut self, from: Point, to: Point, color: RGBColor) {
        self.shapes.push(Shape::Rect { from, to, color });
    }

    pub(super) fn polygon(&mut self, points: Vec<Point>, color: RGBColor) {
        self.shapes.push(Shape::Polygon { points, color });
    }

    pub(super) fn line(&mut self, from: Point, to: Point, color: RGBColor, width: f64) {
        self.shapes.push(Shape::Path { points: vec![from, to], color, width });
    }

    /// A line through points. Points too close to see are left out.
    pub(super) fn path(&mut self, points: &[Point], color: RGBColor, width: f64, dash: Dash) {
        let points = thinned(points);
        let pieces = if dash.is_empty() { vec![points] } else { dashes(&points, dash) };
        for points in pieces.into_iter().filter(|points| points.len() > 1) {
            self.shapes.push(Shape::Path { points, color, width });
        }
    }

    /// A text whose capitals are centred vertically on `at`.
    pub(super) fn text(&mut self, text: &str, at: Point, em: f64, align: Align) {
        self.shapes.push(Shape::Text { text: text.to_owned(), at, em, align, upright: false });
    }

    /// A text that reads upwards, centred on `at`.
    pub(super) fn upright_text(&mut self, text: &str, at: Point, em: f64) {
        self.shapes.push(Shape::Text { text: text.to_owned(), at, em, align: Align::Center, upright: true });
    }

    /// A cross that shows on any colour.
    pub(super) fn cross(&mut self, (x, y): Point, radius: f64) {
        for (color, width) in [(WHITE, radius * 0.9), (BLACK, radius * 0.45)] {
            let r = radius + if color == BLACK { 0.0 } else { radius * 0.2 };
            self.line((x - r, y - r), (x + r, y + r), color, width);
            self.line((x - r, y + r), (x + r, y - r), color, width);
        }
    }

    /// The SVG file.
    pub(super) fn svg(&self) -> Result<String, String> {
        let mut text = String::new();
        let mut backend = SVGBackend::with_string(&mut text, self.pixels(SCALE));
        self.draw(&mut backend, SCALE, Medium::Svg)?;
        drop(backend);
        Ok(text)
    }

    /// The PNG file.
    pub(super) fn png(&self) -> Result<Vec<u8>, String> {
        let scale = SCALE * OVERSAMPLING as f64;
        let (width, height) = self.pixels(SCALE);
        let fine = (width * OVERSAMPLING as u32, height * OVERSAMPLING as u32);
        let mut rgb = vec![0xff; 3 * fine.0 as usize * fine.1 as usize];
        let mut backend = BitMapBackend::with_buffer(&mut rgb, fine);
        self.draw(&mut backend, scale, Medium::Bitmap)?;
        drop(backend);
        let pixels = averaged(&rgb, width as usize);
        let mut file = Vec::new();
        let encoder = image::codecs::png::PngEncoder::new(&mut file);
        image::ImageEncoder::write_image(encoder, &pixels, width, height, image::ColorType::Rgb8)
            .map_err(|e| e.to_string())?;
        Ok(file)
    }

    fn pixels(&self, scale: f64) -> (u32, u32) {
        ((self.width * scale).round() as u32, (self.height * scale).round() as u32)
    }

    fn draw<B: DrawingBackend>(&self, backend: &mut B, scale: f64, medium: Medium) -> Result<(), String> {
        let pixel = |(x, y): Point| ((x * scale).round() as i32, (y * scale).round() as i32);
        let (width, height) = self.pixels(scale);
        let background = fill(WHITE);
        let mut drawn = backend.draw_rect((0, 0), (width as i32, height as i32), &background, true);
        let mut readable = true;
        for shape in &self.shapes {
            drawn = drawn.and_then(|()| match shape {
                Shape::Rect { from, to, color } => {
                    backend.draw_rect(pixel(*from), pixel(*to), &fill(*color), true)
                }
                Shape::Polygon { points, color } => {
                    backend.fill_polygon(points.iter().map(|&point| pixel(point)), &fill(*color))
                }
                Shape::Path { points, color, width } if medium == Medium::Svg => {
                    let style = ShapeStyle {
                        color: color.to_rgba(),
                        filled: false,
                        stroke_width: (width * scale).round().max(1.0) as u32,
                    };
                    backend.draw_path(points.iter().map(|&point| pixel(point)), &style)
                }
                // The bitmap backend's own wide lines fray where steps are shorter than the line is wide.
                Shape::Path { points, color, width } => strokes(points, *width)
                    .try_for_each(|quad| backend.fill_polygon(quad.into_iter().map(pixel), &fill(*color))),
                Shape::Text { text, at, em, align, upright } if medium == Medium::Svg => {
                    let (style, at) = text::svg_style(*at, *em, *align, *upright, scale);
                    backend.draw_text(text, &style, pixel(at))
                }
                Shape::Text { text, at, em, align, upright } => {
                    let covers = text::covers(text, *at, *em, *align, *upright, scale);
                    readable &= covers.is_some();
                    covers.into_iter().flatten().try_for_each(|(at, cover)| {
                        backend.draw_pixel(at, BLACK.mix(cover).to_backend_color())
                    })
                }
            });
        }
        drawn.and_then(|()| backend.present()).map_err(|e| e.to_string())?;
        if readable { Ok(()) } else { Err("the embedded font cannot be read".to_owned()) }
    }
}

fn fill(color: RGBColor) -> ShapeStyle {
    ShapeStyle { color: color.to_rgba(), filled: true, stroke_width: 0 }
}

/// Without points that differ too little from the one before to see.
fn thinned(points: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::with_capacity(points.len());
    for (i, &point) in points.iter().enumerate() {
        let near = kept.last().is_some_and(|last| (last.0 - point.0).hypot(last.1 - point.1) < 0.3);
        if !near || i + 1 == points.len() {
            kept.push(point);
        }
    }
    kept
}

/// A line cut into dashes.
fn dashes(points: &[Point], dash: Dash) -> Vec<Vec<Point>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<Point> = points.first().copied().into_iter().collect();
    let mut turn = 0;
    let mut left = dash.first().copied().unwrap_or(1.0);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length <= left {
                left -= length;
                piece.push(to);
                break;
            }
            let share = left / length;
            from = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            piece.push(from);
            if turn % 2 == 0 {
                pieces.push(std::mem::take(&mut piece));
            }
            turn += 1;
            left = dash[turn % dash.len()].max(1.0);
            piece = vec![from];
        }
    }
    if turn % 2 == 0 {
        pieces.push(piece);
    }
    pieces
}

/// The stretches of a wide line as quadrilaterals that overlap where they join.
fn strokes(points: &[Point], width: f64) -> impl Iterator<Item = [Point; 4]> + '_ {
    let half = width / 2.0;
    let last = points.len().saturating_sub(2);
    points.windows(2).enumerate().map(move |(i, pair)| {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1).max(1e-9);
        let along = ((to.0 - from.0) / length * half, (to.1 - from.1) / length * half);
        let back = if i > 0 { 1.0 } else { 0.0 };
        let ahead = if i < last { 1.0 } else { 0.0 };
        let from = (from.0 - back * along.0, from.1 - back * along.1);
        let to = (to.0 + ahead * along.0, to.1 + ahead * along.1);
        [
            (from.0 - along.1, from.1 + along.0),
            (to.0 - along.1, to.1 + along.0),
            (to.0 + along.1, to.1 - along.0),
            (from.0 + along.1, from.1 - along.0),
        ]
    })
}

/// Means of squares of [`OVERSAMPLING`] pixels. `width` is that of the result.
fn averaged(rgb: &[u8], width: usize) -> Vec<u8> {
    let row = 3 * width * OVERSAMPLING;
    let mut pixels = Vec::with_capacity(rgb.len() / (OVERSAMPLING * OVERSAMPLING));
    for rows in rgb.chunks_exact(row * OVERSAMPLING) {
        for x in 0..width {
            for channel in 0..3 {
                let mut sum = 0;
                for line in rows.chunks_exact(row) {
                    for k in 0..OVERSAMPLING {
                        sum += u32::from(line[3 * (x * OVERSAMPLING + k) + channel]);
                    }
                }
                pixels.push((sum / (OVERSAMPLING * OVERSAMPLING) as u32) as u8);
            }
        }
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_go_round_corners_and_keep_their_length() {
        let pieces = dashes(&[(0.0, 0.0), (6.0, 0.0), (6.0, 20.0)], &[10.0, 4.0]);
        assert_eq!(pieces[0], [(0.0, 0.0), (6.0, 0.0), (6.0, 4.0)]);
        assert_eq!(pieces[1], [(6.0, 8.0), (6.0, 18.0)]);
        assert_eq!(pieces.len(), 2);
    }
}
