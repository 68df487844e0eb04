use crate::kinds::{
    BaseUrlKind, CountKind, FlagKind, HeaderListKind, HeaderNameKind, JsonTableKind, OptionalTextKind,
    QueryParametersKind, SecondsKind, SecretKeyKind, SlugKind, TextKind, TokenPriceKind, choice,
};
use crate::section::named_section;

choice! {
    /// Where a model's settings start from: a server that is known, or none. `munshi-llm` has what each means.
    ProviderChoice {
        Anthropic = "anthropic",
        OpenAi = "openai",
        Gemini = "gemini",
        Azure = "azure",
        Groq = "groq",
        DeepSeek = "deepseek",
        Mistral = "mistral",
        Sarvam = "sarvam",
        OpenRouter = "openrouter",
        Ollama = "ollama",
        Vllm = "vllm",
        LlamaCpp = "llamacpp",
        /// The same server, spoken to on Anthropic's wire.
        LlamaCppAnthropic = "llamacpp-anthropic",
        /// No preset: `wire` and `base_url` are given.
        Custom = "custom",
    }
}

choice! {
    /// The language a model's server speaks.
    ModelWire {
        Anthropic = "anthropic",
        OpenAi = "openai",
        Gemini = "gemini",
    }
}

choice! {
    /// What the OpenAI wire calls the output limit.
    OutputLimitChoice {
        MaxCompletionTokens = "max_completion_tokens",
        MaxTokens = "max_tokens",
    }
}

choice! {
    /// How an answer in JSON is asked for.
    JsonModeChoice {
        Schema = "schema",
        Tool = "tool",
        Object = "object",
        Words = "words",
    }
}

choice! {
    /// How it is said how much a model should think.
    ThinkingModeChoice {
        Budget = "budget",
        Effort = "effort",
    }
}

choice! {
    /// How dear a model is: what plans permit goes by it.
    ModelSize {
        Small = "small",
        Medium = "medium",
        Large = "large",
    }
}

named_section! {
    /// Models, each at one server and under a name of your choice: lowercase letters and digits, with single dashes or
    /// underscores between. Any server that speaks one of three API formats works; docs/models.md explains each
    /// setting. A missing setting takes the preset's value, else the default there. In a variable, write a dash as an
    /// underscore: MUNSHI__MODELS__GPT_MINI__KEY sets `gpt-mini` if the file has it, and otherwise creates `gpt_mini`.
    /// `offline` always exists and needs no settings.
    ModelsSection of
    /// One model at one place. What is `None` was not given.
    ConfiguredModel in "models" such as "sonnet" {
        required {
            /// The model's name at the server. The only required key.
            model: TextKind = "claude-sonnet-4-5",
        }
        optional {
            /// Preset of a known server: its address, API format and quirks. `custom` means no preset.
            provider: ProviderChoice = "anthropic",
            /// API format of the server; a preset sets it.
            wire: ModelWire = "anthropic",
            /// The server's URL, without the path of the API format.
            base_url: BaseUrlKind = "https://api.anthropic.com/v1",
            /// The API key. Prefer its variable to a file. Always redacted.
            key: SecretKeyKind = "",
            /// HTTP headers sent with every call. Values are redacted.
            headers: HeaderListKind = [],
            /// Allow sending a key or headers unencrypted to another machine. Only for a network you control.
            allow_plain_http: FlagKind = false,
            /// Where the data goes, as a label of your choice; `routes.permitted_residency` lists the permitted labels.
            residency: SlugKind = "us",
            /// Send people's names and numbers unredacted. Only for a server on this machine or in your own network;
            /// all other servers get pseudonyms.
            sees_names: FlagKind = false,
            /// Which plans may use the model. The default follows from the output price: up to $6 per million tokens is
            /// small, up to $20 medium. A model without a known price is for `business` only.
            class: ModelSize = "medium",
            /// Whether the model supports tool calls.
            tools: FlagKind = true,
            /// Whether it accepts images.
            images: FlagKind = true,
            /// Whether it accepts documents such as PDF.
            documents: FlagKind = true,
            /// Whether it supports structured output by JSON schema.
            json_schema: FlagKind = true,
            /// Whether it supports thinking (reasoning) on request.
            thinking_supported: FlagKind = false,
            /// Whether it creates embeddings.
            embeddings: FlagKind = false,
            /// Size of the context window, in tokens.
            context_tokens: CountKind<256, 100_000_000> = 200000,
            /// Shortest prompt prefix, in tokens, that the provider caches; 0 if it needs no cache markers.
            cache_minimum_tokens: CountKind<0, 1_000_000> = 4096,
            /// Timeout for connecting.
            connect_timeout ("connect_timeout_seconds"): SecondsKind<1, 3600> = 3,
            /// Timeout until the first byte of a streamed answer.
            first_byte_timeout ("first_byte_timeout_seconds"): SecondsKind<1, 3600> = 8,
            /// Timeout between two chunks of a stream.
            between_bytes_timeout ("between_bytes_timeout_seconds"): SecondsKind<1, 3600> = 15,
            /// Timeout for the whole call.
            whole_timeout ("whole_timeout_seconds"): SecondsKind<1, 3600> = 120,
            /// HTTP header that carries the key.
            key_header: HeaderNameKind = "documented",
            /// Query parameters added to every URL. Values are redacted.
            query: QueryParametersKind = "",
            /// OpenAI format: name of the output limit field.
            output_limit: OutputLimitChoice = "max_completion_tokens",
            /// Stream answers. Turn off for a server that streams badly or not at all.
            stream: FlagKind = true,
            /// OpenAI format: request token usage at the end of a stream.
            stream_usage: FlagKind = true,
            /// Whether to send a temperature; some models reject it.
            temperature: FlagKind = true,
            /// How to request JSON output.
            json: JsonModeChoice = "schema",
            /// How to set the thinking effort: a token budget, or low, medium or high.
            thinking: ThinkingModeChoice = "budget",
            /// OpenAI format: field that returns the assistant's thinking to the server.
            thinking_field: OptionalTextKind = "",
            /// OpenAI format: field for the end user's name.
            user_field: OptionalTextKind = "",
            /// Gemini: placeholder signature for a tool call made by another model.
            unsigned_call: OptionalTextKind = "",
            /// Fields merged into every request body, overriding Munshi's. Not for secrets: values are shown.
            extra: JsonTableKind = {},
            /// Your own price for input tokens; needs `price_output`. The default is the bundled price.
            price_input: TokenPriceKind = "3",
            /// Price for output tokens, thinking included.
            price_output: TokenPriceKind = "15",
            /// Price for tokens read from the provider's cache. The default is `price_input`.
            price_cache_read: TokenPriceKind = "0.3",
            /// Price for cache writes with a lifetime of five minutes. Required with a price if `cache_minimum_tokens`
            /// is above 0.
            price_cache_write_5m: TokenPriceKind = "3.75",
            /// Price for cache writes with a lifetime of one hour.
            price_cache_write_1h: TokenPriceKind = "6",
        }
    }
}

impl ModelsSection {
    pub fn iter(&self) -> impl Iterator<Item = &ConfiguredModel> {
        self.list.iter()
    }
}

impl ConfiguredModel {
    /// The section it stands in: `models.sonnet`.
    pub fn section(&self) -> String {
        format!("models.{}", self.name)
    }
}
