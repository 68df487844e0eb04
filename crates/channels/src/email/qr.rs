//! A code for a phone's camera, as a picture: mail programs draw no other kind.

use qrcodegen::{QrCode, QrCodeEcc};

/// Pixels a module, and modules of white around.
const SCALE: usize = 8;
const MARGIN: usize = 4;

/// None for what is too long for a code.
pub(crate) fn draw_png(text: &str) -> Option<Vec<u8>> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let modules = usize::try_from(code.size()).ok()?;
    let side = (modules + 2 * MARGIN) * SCALE;
    let mut pixels = vec![255_u8; side * side];
    for (at, pixel) in pixels.iter_mut().enumerate() {
        let (x, y) = ((at % side) / SCALE, (at / side) / SCALE);
        let inside = |place: usize| place.checked_sub(MARGIN).filter(|place| *place < modules);
        let (Some(x), Some(y)) = (inside(x), inside(y)) else { continue };
        if code.get_module(i32::try_from(x).ok()?, i32::try_from(y).ok()?) {
            *pixel = 0;
        }
    }
    encode_png(&pixels, side)
}

fn encode_png(pixels: &[u8], side: usize) -> Option<Vec<u8>> {
    let side = u32::try_from(side).ok()?;
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, side, side);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(pixels).ok()?;
    writer.finish().ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_picture_with_a_margin() {
        let drawn = draw_png("upi://pay?pa=shop@bank&am=500").unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(drawn)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let side = info.width as usize;
        assert_eq!((info.width, side % SCALE), (info.height, 0));
        assert!(pixels[..side * SCALE * MARGIN].iter().all(|pixel| *pixel == 255), "white above it");
        let corner = (MARGIN * SCALE) * side + MARGIN * SCALE;
        assert_eq!(pixels[corner], 0, "the corner's mark");
        assert_eq!(draw_png(&"x".repeat(5000)), None);
    }
}
