/** The settings of traces, from OpenTelemetry's standard environment variables. */
export interface TracingSettings {
	protocol: "http/protobuf" | "http/json";
	sampler: (typeof SAMPLERS)[number];
	/** The fraction of traces that the …traceidratio samplers keep. */
	ratio: number;
	/** True when a caller's traceparent is trusted. */
	believesCallers: boolean;
	/** Only the values that are set; the SDK has defaults for the others. */
	batch: Partial<Record<keyof typeof BATCH, number>>;
	/**
	 * True when the configured address is not one. No traces are better than traces sent to another
	 * address.
	 */
	goesNowhere: boolean;
	/**
	 * For the log: one sentence for each value that was not understood, with what is done instead.
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
 * Reads the settings. Undefined unless OTEL_TRACES_EXPORTER=otlp or an endpoint asks for traces.
 * The specification's default (on, to localhost) does not apply, because the service contacts no
 * other host unasked. As the specification requires, a value that is not understood never stops the
 * start: such variables are often set for all programs of a machine. The exporter itself reads the
 * endpoint, headers and certificates (OTEL_EXPORTER_OTLP_…).
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

/** The first variable that is set counts. */
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

/** Returns the value of the first of `names` that is set. */
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
