import type { Logger } from "pino";
import type { TracingSettings } from "./settings.ts";
import type { Tracing } from "./tracing.ts";

/**
 * Endpoint that is used if none is set. OpenTelemetry's specification and the exporter have the
 * same default.
 */
const DEFAULT_ENDPOINT = "http://localhost:4318";

/**
 * Starts tracing. Returns undefined if the configured endpoint is not a valid address. The code for
 * traces is loaded only when it is needed.
 */
export async function openTracing(
	settings: TracingSettings,
	operations: ReadonlySet<string>,
	log: Logger,
): Promise<Tracing | undefined> {
	for (const notice of settings.notices) log.warn(notice);
	if (settings.goesNowhere) return undefined;
	log.info({ to: hostOf(process.env) }, "traces are on");
	const { makeTracing } = await import("./tracing.ts");
	return makeTracing(settings, operations, (message) =>
		log.warn({ reason: message }, "traces cannot be sent"),
	);
}

/** Returns the host that the exporter sends traces to, without user, password and path. */
function hostOf(env: Readonly<Record<string, string | undefined>>): string {
	const endpoint =
		env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim() ||
		env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
	return URL.parse(endpoint || DEFAULT_ENDPOINT)?.host ?? "";
}
