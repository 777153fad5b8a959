//! Plane geometry, as much of it as text needs.

/// An affine map as a document writes it: `x' = a·x + c·y + e`, `y' = b·x + d·y + f`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix(pub [f32; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) const fn translation(x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// First `self`, then `after`.
    pub(super) fn then(self, after: Self) -> Self {
        let [xx, xy, yx, yy, x, y] = self.0;
        let ((xx, xy), (yx, yy), (x, y)) = (after.turn(xx, xy), after.turn(yx, yy), after.apply(x, y));
        Self([xx, xy, yx, yy, x, y])
    }

    pub(super) fn apply(self, x: f32, y: f32) -> (f32, f32) {
        let (turned_x, turned_y) = self.turn(x, y);
        let [.., shift_x, shift_y] = self.0;
        (turned_x + shift_x, turned_y + shift_y)
    }

    /// The map without its shift: where a direction goes.
    pub(super) fn turn(self, x: f32, y: f32) -> (f32, f32) {
        let [xx, xy, yx, yy, ..] = self.0;
        (xx * x + yx * y, xy * x + yy * y)
    }

    /// The rectangle around the image of a rectangle.
    pub(super) fn around(self, rect: Box2) -> Box2 {
        let mut around = Box2::EMPTY;
        for (x, y) in [(rect.x0, rect.y0), (rect.x1, rect.y0), (rect.x0, rect.y1), (rect.x1, rect.y1)] {
            let (x, y) = self.apply(x, y);
            around.add(x, y);
        }
        around
    }
}

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Box2 {
    pub x0: f32,
    pub y0: f32,
    pub x1: f32,
    pub y1: f32,
}

impl Box2 {
    /// Holds nothing, and is nowhere.
    pub(super) const EMPTY: Self =
        Self { x0: f32::INFINITY, y0: f32::INFINITY, x1: f32::NEG_INFINITY, y1: f32::NEG_INFINITY };

    pub(super) fn add(&mut self, x: f32, y: f32) {
        self.x0 = self.x0.min(x);
        self.y0 = self.y0.min(y);
        self.x1 = self.x1.max(x);
        self.y1 = self.y1.max(y);
    }

    pub(super) fn join(&mut self, other: Self) {
        self.x0 = self.x0.min(other.x0);
        self.y0 = self.y0.min(other.y0);
        self.x1 = self.x1.max(other.x1);
        self.y1 = self.y1.max(other.y1);
    }

    pub(super) fn width(&self) -> f32 {
        (self.x1 - self.x0).max(0.0)
    }

    pub(super) fn height(&self) -> f32 {
        (self.y1 - self.y0).max(0.0)
    }
}
