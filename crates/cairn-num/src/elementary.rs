//! placeholder
use crate::Number;
impl Number {
    /// p
    pub fn polar(magnitude: &Number, angle: &Number) -> Number {
        if angle.is_exact_zero() || magnitude.is_exact_zero() {
            return magnitude.clone();
        }
        let (m, a) = (magnitude.to_f64(), angle.to_f64());
        Number::rectangular(Number::Flo(m * a.cos()), Number::Flo(m * a.sin()))
    }
}
