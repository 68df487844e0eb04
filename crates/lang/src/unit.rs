//! Units of quantity.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum MeasureUnit {
    #[serde(rename = "kg")]
    Kilogram,
    #[serde(rename = "g")]
    Gram,
    #[serde(rename = "l")]
    Litre,
    #[serde(rename = "ml")]
    Millilitre,
    #[serde(rename = "m")]
    Metre,
    #[serde(rename = "ft")]
    Foot,
    #[serde(rename = "in")]
    Inch,
    #[serde(rename = "quintal")]
    Quintal,
    #[serde(rename = "tonne")]
    Tonne,
    #[serde(rename = "dozen")]
    Dozen,
    #[serde(rename = "packet")]
    Packet,
    #[serde(rename = "piece")]
    Piece,
    #[serde(rename = "box")]
    Box,
    #[serde(rename = "carton")]
    Carton,
    #[serde(rename = "bag")]
    Bag,
    #[serde(rename = "bottle")]
    Bottle,
    #[serde(rename = "bundle")]
    Bundle,
    #[serde(rename = "pair")]
    Pair,
    #[serde(rename = "plate")]
    Plate,
    #[serde(rename = "tola")]
    Tola,
    #[serde(rename = "percent")]
    Percent,
    #[serde(rename = "minute")]
    Minute,
    #[serde(rename = "hour")]
    Hour,
    #[serde(rename = "day")]
    Day,
    #[serde(rename = "week")]
    Week,
    #[serde(rename = "month")]
    Month,
    #[serde(rename = "year")]
    Year,
    #[serde(rename = "person")]
    Person,
    #[serde(rename = "times")]
    Times,
}
