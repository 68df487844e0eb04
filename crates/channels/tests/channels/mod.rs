mod finding;
mod leaving;
mod sending;
mod support;
