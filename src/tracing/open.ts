import type { Logger } from "pino";
import type { TracingSettings } from "./settings.ts";
import type { Tracing } from "./tracing.ts";

/** Begins to trace; undefined when it would be for nobody. The code is loaded only where it is wanted. */
export async function openTracing(
	settings: TracingSettings,
	operations: ReadonlySet<string>,
	log: Logger,
): Promise<Tracing | undefined> {
	for (const notice of settings.notices) log.warn(notice);
	if (settings.goesNowhere) return undefined;
	const { makeTracing } = await import("./tracing.ts");
	return makeTracing(settings, operations, (message) =>
		log.warn({ reason: message }, "traces cannot be sent"),
	);
}
