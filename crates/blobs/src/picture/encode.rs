//! A baseline JPEG encoder, for pictures that are shown: one way of writing, no metadata, colours in full. The crate that would do
//! it is under a licence that is not among those this project takes.

use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// How the steps of a block are ordered in a file.
#[rustfmt::skip]
const ZIGZAG: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// The standard's steps for brightness and for colour, at half quality, row by row.
#[rustfmt::skip]
const STEPS: [[u16; 64]; 2] = [
    [
        16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
        18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
    ],
    [
        17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    ],
];

/// The standard's codes: how many there are of each length, and what they stand for. Those for brightness serve colours too.
const MEAN_LENGTHS: [u8; 16] = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];
const MEAN_VALUES: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const DETAIL_LENGTHS: [u8; 16] = [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125];
#[rustfmt::skip]
const DETAIL_VALUES: [u8; 162] = [
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08,
    0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28,
    0x29, 0x2a, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
    0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
    0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6,
    0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
    0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
];
/// Brightness and two colours, of red, green and blue; and what lies in the middle of each.
const COMPONENTS: [([f32; 3], f32); 3] = [
    ([0.299, 0.587, 0.114], 128.0),
    ([-0.168_736, -0.331_264, 0.5], 0.0),
    ([0.5, -0.418_688, -0.081_312], 0.0),
];
const END_OF_BLOCK: u8 = 0x00;
const SIXTEEN_ZEROES: u8 = 0xF0;
/// Of a step's value.
const LARGEST: f32 = 1023.0;

/// Where writing on a photographed bill stays readable: a third of the standard's steps.
const SCALE: u16 = 30;

/// Encodes rows of red, green and blue. None where the sides are none of a JPEG's, or the pixels are fewer.
pub(super) fn encode_jpeg(width: u32, height: u32, rgb: &[u8]) -> Option<Vec<u8>> {
    let sides = [u16::try_from(width).ok()?, u16::try_from(height).ok()?];
    let is_whole = rgb.len() as u64 == u64::from(width) * u64::from(height) * 3;
    if !is_whole || sides.contains(&0) {
        return None;
    }
    let steps = STEPS.map(|steps| steps.map(|step| ((step * SCALE + 50) / 100).clamp(1, 255)));
    let mut out = write_head(sides, &steps);
    let mut blocks = BlockWriter::new(&mut out, &steps);
    let (wide, high) = (width as usize, height as usize);
    for top in (0..high).step_by(8) {
        for left in (0..wide).step_by(8) {
            blocks.write_pixels(|x, y| {
                // The last pixels of a row and a column stand for what is missing.
                let at = ((top + y).min(high - 1) * wide + (left + x).min(wide - 1)) * 3;
                [rgb[at], rgb[at + 1], rgb[at + 2]]
            });
        }
    }
    blocks.finish();
    out.extend([0xFF, 0xD9]);
    Some(out)
}

fn write_head([width, height]: [u16; 2], steps: &[[u16; 64]; 2]) -> Vec<u8> {
    let mut out = b"\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".to_vec();
    for (number, steps) in (0..).zip(steps) {
        out.extend([0xFF, 0xDB, 0, 67, number]);
        out.extend(ZIGZAG.iter().map(|at| steps[*at].to_be_bytes()[1]));
    }
    out.extend([0xFF, 0xC0, 0, 17, 8]);
    out.extend(height.to_be_bytes());
    out.extend(width.to_be_bytes());
    out.extend([3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1]);
    for (class, lengths, values) in
        [(0x00, &MEAN_LENGTHS, &MEAN_VALUES[..]), (0x10, &DETAIL_LENGTHS, &DETAIL_VALUES[..])]
    {
        let length = u16::try_from(19 + values.len()).unwrap_or(u16::MAX);
        out.extend([0xFF, 0xC4]);
        out.extend(length.to_be_bytes());
        out.push(class);
        out.extend(lengths);
        out.extend(values);
    }
    out.extend([0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0]);
    out
}

/// The code and its length of each value.
type Codes = [(u16, u8); 256];

fn assign_codes(lengths: &[u8; 16], values: &[u8]) -> Codes {
    let (mut codes, mut code, mut values) = ([(0, 0); 256], 0_u16, values.iter());
    for (length, count) in (1..).zip(lengths) {
        for value in values.by_ref().take(usize::from(*count)) {
            codes[usize::from(*value)] = (code, length);
            code += 1;
        }
        code <<= 1;
    }
    codes
}

struct BlockWriter<'a> {
    out: &'a mut Vec<u8>,
    steps: &'a [[u16; 64]; 2],
    mean_codes: Codes,
    detail_codes: Codes,
    waves: [[f32; 8]; 8],
    /// The mean of each component's block before.
    means: [i32; 3],
    bits: u32,
    count: u32,
}

impl<'a> BlockWriter<'a> {
    fn new(out: &'a mut Vec<u8>, steps: &'a [[u16; 64]; 2]) -> Self {
        let mut waves = [[0.0; 8]; 8];
        for (frequency, wave) in (0_u8..).zip(&mut waves) {
            let scale = if frequency == 0 { FRAC_1_SQRT_2 } else { 1.0 } / 2.0;
            for (place, value) in (0_u8..).zip(wave) {
                let angle = f32::from(2 * place + 1) * f32::from(frequency) * PI / 16.0;
                *value = scale * angle.cos();
            }
        }
        let mean_codes = assign_codes(&MEAN_LENGTHS, &MEAN_VALUES);
        let detail_codes = assign_codes(&DETAIL_LENGTHS, &DETAIL_VALUES);
        Self { out, steps, mean_codes, detail_codes, waves, means: [0; 3], bits: 0, count: 0 }
    }

    /// Eight by eight pixels, by their place.
    fn write_pixels(&mut self, pixel: impl Fn(usize, usize) -> [u8; 3]) {
        let pixels: [[[f32; 3]; 8]; 8] =
            std::array::from_fn(|y| std::array::from_fn(|x| pixel(x, y).map(f32::from)));
        for (number, (parts, level)) in COMPONENTS.iter().enumerate() {
            let mix = |colours: [f32; 3]| parts.iter().zip(colours).map(|(a, b)| a * b).sum::<f32>() - level;
            let values = pixels.map(|row| row.map(mix));
            let steps = &self.steps[number.min(1)];
            let quantised = quantise(&self.to_frequencies(&values), steps);
            self.write_block(number, &quantised);
        }
    }

    /// The discrete cosine transform, by rows and then by columns.
    fn to_frequencies(&self, values: &[[f32; 8]; 8]) -> [[f32; 8]; 8] {
        let along = |row: &[f32; 8]| self.waves.map(|wave| wave.iter().zip(row).map(|(a, b)| a * b).sum());
        let rows: [[f32; 8]; 8] = values.each_ref().map(along);
        let columns: [[f32; 8]; 8] = std::array::from_fn(|x| std::array::from_fn(|y| rows[y][x]));
        let transformed: [[f32; 8]; 8] = columns.each_ref().map(along);
        std::array::from_fn(|y| std::array::from_fn(|x| transformed[x][y]))
    }

    fn write_block(&mut self, component: usize, steps: &[i32; 64]) {
        let change = steps[0] - std::mem::replace(&mut self.means[component], steps[0]);
        let size = bit_length(change);
        self.put(self.mean_codes[usize::from(size)]);
        self.put_value(change, size);
        let mut zeroes = 0_u8;
        for step in &steps[1..] {
            if *step == 0 {
                zeroes += 1;
                continue;
            }
            while zeroes >= 16 {
                self.put(self.detail_codes[usize::from(SIXTEEN_ZEROES)]);
                zeroes -= 16;
            }
            let size = bit_length(*step);
            self.put(self.detail_codes[usize::from(zeroes << 4 | size)]);
            self.put_value(*step, size);
            zeroes = 0;
        }
        if zeroes > 0 {
            self.put(self.detail_codes[usize::from(END_OF_BLOCK)]);
        }
    }

    /// A negative number is written as one less, without its sign.
    fn put_value(&mut self, value: i32, size: u8) {
        let bits = if value < 0 { value - 1 } else { value };
        let mask = (1_i32 << size) - 1;
        self.put((u16::try_from(bits & mask).unwrap_or(0), size));
    }

    fn put(&mut self, (code, length): (u16, u8)) {
        self.bits = self.bits << length | u32::from(code);
        self.count += u32::from(length);
        while self.count >= 8 {
            self.count -= 8;
            let byte = (self.bits >> self.count).to_be_bytes()[3];
            self.out.push(byte);
            if byte == 0xFF {
                self.out.push(0);
            }
        }
        self.bits &= (1 << self.count) - 1;
    }

    /// Fills the last byte with ones.
    fn finish(mut self) {
        let rest = u8::try_from((8 - self.count) % 8).unwrap_or(0);
        self.put(((1 << rest) - 1, rest));
    }
}

#[allow(clippy::cast_possible_truncation, reason = "it is bounded just before")]
fn quantise(frequencies: &[[f32; 8]; 8], steps: &[u16; 64]) -> [i32; 64] {
    ZIGZAG.map(|at| {
        let value = frequencies[at / 8][at % 8] / f32::from(steps[at]);
        value.round().clamp(-LARGEST, LARGEST) as i32
    })
}

fn bit_length(value: i32) -> u8 {
    u8::try_from(32 - value.unsigned_abs().leading_zeros()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zune_jpeg::JpegDecoder;
    use zune_jpeg::zune_core::bytestream::ZCursor;

    use super::*;

    fn decode(jpeg: &[u8]) -> (usize, usize, Vec<u8>) {
        let mut decoder = JpegDecoder::new(ZCursor::new(jpeg));
        let pixels = decoder.decode().unwrap();
        let info = decoder.info().unwrap();
        (info.width.into(), info.height.into(), pixels)
    }

    /// How far two pictures are apart, on average over all colours of all pixels.
    fn distance(one: &[u8], other: &[u8]) -> f64 {
        let apart: u64 = one.iter().zip(other).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        apart as f64 / one.len() as f64
    }

    #[test]
    fn what_is_encoded_is_what_is_seen() {
        let (width, height) = (61, 43);
        let smooth: Vec<u8> = (0..height)
            .flat_map(|y| (0..width).flat_map(move |x| [x * 4, y * 5, 255 - x * 2 - y]))
            .map(|value| u8::try_from(value).unwrap())
            .collect();
        let (wide, high, seen) = decode(&encode_jpeg(width, height, &smooth).unwrap());
        assert_eq!((wide, high), (61, 43));
        assert!(distance(&smooth, &seen) < 1.5, "{}", distance(&smooth, &seen));
        let hard: Vec<u8> =
            (0..width * height).flat_map(|at| if at % 7 < 3 { [255; 3] } else { [0; 3] }).collect();
        let (.., seen) = decode(&encode_jpeg(width, height, &hard).unwrap());
        assert!(distance(&hard, &seen) < 6.0, "{}", distance(&hard, &seen));
    }

    #[test]
    fn sides_that_are_none_are_refused() {
        assert!(encode_jpeg(0, 1, &[]).is_none());
        assert!(encode_jpeg(70_000, 1, &[0; 210_000]).is_none());
        assert!(encode_jpeg(2, 2, &[0; 11]).is_none());
    }

    proptest! {
        #[test]
        fn any_pixels_can_be_decoded(width in 1..40_u32, height in 1..40_u32, seed: u64) {
            let mut state = seed | 1;
            let rgb: Vec<u8> = (0..width * height * 3).map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_le_bytes()[3]
            }).collect();
            let (wide, high, seen) = decode(&encode_jpeg(width, height, &rgb).unwrap());
            prop_assert_eq!((wide, high), (width as usize, height as usize));
            prop_assert!(distance(&rgb, &seen) < 20.0);
        }
    }
}
