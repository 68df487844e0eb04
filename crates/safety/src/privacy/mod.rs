//! What a cloud model may see, and what may leave.
