import type { Logger } from "pino";
import type { TracingSettings } from "./settings.ts";
import type { Tracing } from "./tracing.ts";

/** Of the specification; the exporter's too. */
const DEFAULT_ENDPOINT = "http://localhost:4318";

/** Begins to trace; undefined when it would be for nobody. The code is loaded only where it is wanted. */
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

/** Where the exporter sends them, without user, password and path. */
function hostOf(env: Readonly<Record<string, string | undefined>>): string {
	const endpoint =
		env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim() ||
		env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
	return URL.parse(endpoint || DEFAULT_ENDPOINT)?.host ?? "";
}
