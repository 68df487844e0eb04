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
    /// The models, each at one place and under a name of your choice: small letters and digits, with single dashes
    /// or underscores between. Any server that speaks one of three wires will do; docs/models.md explains each
    /// setting. What is not given is the preset's, else the default there. In a variable a dash is written as an
    /// underscore: MUNSHI__MODELS__GPT_MINI__KEY is for `gpt-mini` where the file has that, and makes `gpt_mini`
    /// where it has neither. `offline` is always there and needs no settings.
    ModelsSection of
    /// One model at one place. What is `None` was not given.
    ConfiguredModel in "models" such as "sonnet" {
        required {
            /// What the server calls the model. The one key that must be given.
            model: TextKind = "claude-sonnet-4-5",
        }
        optional {
            /// The server, where its address, wire and ways are known. `custom` is none of them.
            provider: ProviderChoice = "anthropic",
            /// What the server speaks; a preset says that by itself.
            wire: ModelWire = "anthropic",
            /// The server's address up to but not including the wire's own path.
            base_url: BaseUrlKind = "https://api.anthropic.com/v1",
            /// The key. Better set by its variable than in a file. Always shown as dots.
            key: SecretKeyKind = "",
            /// Sent with every call. Values are shown as dots.
            headers: HeaderListKind = [],
            /// Whether a key or headers may go unencrypted to another machine. Only for a network that is yours.
            allow_plain_http: FlagKind = false,
            /// Where the data goes, in a word of your choice; `routes.permitted_residency` names those that may be
            /// used.
            residency: SlugKind = "us",
            /// Whether it gets people's names and numbers as they are. Only for a server on this machine or in a network
            /// of your own; to all others they go as codes.
            sees_names: FlagKind = false,
            /// Which plans may use it; without it the price says: up to $6 for a million tokens written is small, up to
            /// $20 medium. One whose price nobody knows is for `business` alone.
            class: ModelSize = "medium",
            /// Whether the model calls tools.
            tools: FlagKind = true,
            /// Whether it sees images.
            images: FlagKind = true,
            /// Whether it reads documents such as PDF.
            documents: FlagKind = true,
            /// Whether it keeps to a JSON schema by itself.
            json_schema: FlagKind = true,
            /// Whether it thinks before it answers, when asked to.
            thinking_supported: FlagKind = false,
            /// Whether it makes vectors of texts.
            embeddings: FlagKind = false,
            /// How many tokens a conversation may have.
            context_tokens: CountKind<256, 100_000_000> = 200000,
            /// The shortest beginning, in tokens, that the provider keeps; 0 where it needs no marks.
            cache_minimum_tokens: CountKind<0, 1_000_000> = 4096,
            /// How long connecting may take.
            connect_timeout ("connect_timeout_seconds"): SecondsKind<1, 3600> = 3,
            /// How long a streamed answer may take to begin.
            first_byte_timeout ("first_byte_timeout_seconds"): SecondsKind<1, 3600> = 8,
            /// The longest silence after that.
            between_bytes_timeout ("between_bytes_timeout_seconds"): SecondsKind<1, 3600> = 15,
            /// How long a call may take as a whole.
            whole_timeout ("whole_timeout_seconds"): SecondsKind<1, 3600> = 120,
            /// The header that carries the key.
            key_header: HeaderNameKind = "documented",
            /// Added to every address. Values are shown as dots.
            query: QueryParametersKind = "",
            /// OpenAI's wire: the name of the output limit.
            output_limit: OutputLimitChoice = "max_completion_tokens",
            /// Answers come word by word; off for a server that streams badly or not at all.
            stream: FlagKind = true,
            /// OpenAI's wire: whether a count is asked for at the end of a stream.
            stream_usage: FlagKind = true,
            /// Whether a temperature is sent; some models refuse one.
            temperature: FlagKind = true,
            /// How an answer in JSON is asked for.
            json: JsonModeChoice = "schema",
            /// How it is said how much to think: a number of tokens, or low, medium or high.
            thinking: ThinkingModeChoice = "budget",
            /// OpenAI's wire: where an assistant's thinking goes back.
            thinking_field: OptionalTextKind = "",
            /// OpenAI's wire: where the end user's name goes.
            user_field: OptionalTextKind = "",
            /// Gemini: what stands for the signature of a tool call that another model made.
            unsigned_call: OptionalTextKind = "",
            /// Fields set in every body as they are, over ours. Not for secrets: they are shown.
            extra: JsonTableKind = {},
            /// A price of your own for what is read, with `price_output`; without, the bundled prices apply.
            price_input: TokenPriceKind = "3",
            /// For what is written, thinking included.
            price_output: TokenPriceKind = "15",
            /// For what is read from the provider's cache; the same as `price_input` unless given.
            price_cache_read: TokenPriceKind = "0.3",
            /// For what is put into the cache for five minutes. Must be given with a price where
            /// `cache_minimum_tokens` is above 0.
            price_cache_write_5m: TokenPriceKind = "3.75",
            /// The same for an hour.
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
