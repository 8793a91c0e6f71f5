/** The settings of traces. They come from OpenTelemetry's standard environment variables. */
export interface TracingSettings {
	protocol: "http/protobuf" | "http/json";
	sampler: (typeof SAMPLERS)[number];
	/** The fraction of traces that the samplers named …traceidratio keep. */
	ratio: number;
	/** True if the service continues the trace that a caller's traceparent header names. */
	believesCallers: boolean;
	/**
	 * Settings of the batch processor. It contains only the values that are set, because the SDK has
	 * defaults for the others.
	 */
	batch: Partial<Record<keyof typeof BATCH, number>>;
	/**
	 * True if the configured endpoint is not a valid address. No traces are sent then, because
	 * sending them to another address would be worse.
	 */
	goesNowhere: boolean;
	/**
	 * Messages for the log. There is one sentence for each value that was not understood, which also
	 * says what is used instead.
	 */
	notices: string[];
}

const SAMPLERS = [
	"always_on",
	"always_off",
	"traceidratio",
	"parentbased_always_on",
	"parentbased_always_off",
	"parentbased_traceidratio",
] as const;

const BATCH = {
	scheduledDelayMillis: "OTEL_BSP_SCHEDULE_DELAY",
	exportTimeoutMillis: "OTEL_BSP_EXPORT_TIMEOUT",
	maxQueueSize: "OTEL_BSP_MAX_QUEUE_SIZE",
	maxExportBatchSize: "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
} as const;

const PROTOCOLS = ["http/protobuf", "http/json"] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of traces. Returns undefined unless OTEL_TRACES_EXPORTER is "otlp" or an
 * endpoint is set. By default, OpenTelemetry's specification sends traces to localhost. Assay does
 * not, because the service contacts no other host unless it is told to. The specification requires
 * that a value that is not understood never stops the program, because such variables are often set
 * for all programs of a machine. The exporter itself reads the endpoint, headers and certificates
 * (OTEL_EXPORTER_OTLP_…).
 */
export function readTracing(env: Environment): TracingSettings | undefined {
	const exporter = env.OTEL_TRACES_EXPORTER?.trim().toLowerCase();
	const isAsked =
		exporter ||
		env.OTEL_EXPORTER_OTLP_ENDPOINT ||
		env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
	const isOff = env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true";
	if (!isAsked || isOff || exporter === "none") return undefined;

	const notices: string[] = [];
	if (exporter && exporter !== "otlp") {
		notices.push(
			"OTEL_TRACES_EXPORTER must be otlp or none; otlp is used instead",
		);
	}
	const endpoint = ENDPOINT_NAMES.find((name) => env[name]?.trim());
	const goesNowhere =
		endpoint !== undefined && !isHttpUrl(env[endpoint]?.trim() ?? "");
	if (goesNowhere) {
		notices.push(
			`${endpoint} must be an address that begins with http:// or https://; no traces are made`,
		);
	}
	const propagators = env.OTEL_PROPAGATORS?.split(",").map((name) =>
		name.trim().toLowerCase(),
	);
	return {
		protocol: choose(env, PROTOCOL_NAMES, PROTOCOLS, "http/protobuf", notices),
		sampler: choose(
			env,
			["OTEL_TRACES_SAMPLER"],
			SAMPLERS,
			"parentbased_always_on",
			notices,
		),
		ratio: readNumber(env, "OTEL_TRACES_SAMPLER_ARG", 1, notices) ?? 1,
		believesCallers: propagators?.includes("tracecontext") ?? true,
		batch: readBatch(env, notices),
		goesNowhere,
		notices,
	};
}

/** Variables with the endpoint. The first one that is set is used. */
const ENDPOINT_NAMES = [
	"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
	"OTEL_EXPORTER_OTLP_ENDPOINT",
];

function isHttpUrl(text: string): boolean {
	return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

const PROTOCOL_NAMES = [
	"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
	"OTEL_EXPORTER_OTLP_PROTOCOL",
];

/** Returns the value of the first variable in `names` that is set. */
function choose<Value extends string>(
	env: Environment,
	names: string[],
	values: readonly Value[],
	otherwise: Value,
	notices: string[],
): Value {
	const name = names.find((name) => env[name]);
	if (!name) return otherwise;
	const found = values.find((value) => value === env[name]?.trim());
	if (found) return found;
	notices.push(
		`${name} must be one of ${values.join(", ")}; ${otherwise} is used instead`,
	);
	return otherwise;
}

function readBatch(
	env: Environment,
	notices: string[],
): TracingSettings["batch"] {
	const max = Number.MAX_SAFE_INTEGER;
	return Object.fromEntries(
		Object.entries(BATCH)
			.map(([option, name]) => [option, readNumber(env, name, max, notices, 1)])
			.filter(([, number]) => number !== undefined),
	);
}

function readNumber(
	env: Environment,
	name: string,
	max: number,
	notices: string[],
	min = 0,
): number | undefined {
	const text = env[name]?.trim();
	if (!text) return undefined;
	const number = Number(text);
	if (number >= min && number <= max) return number;
	notices.push(`${name} must be a number from ${min} to ${max}; it is ignored`);
	return undefined;
}
