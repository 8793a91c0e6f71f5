import type { Logger } from "pino";
import type { TracingSettings } from "./settings.ts";
import type { Tracing } from "./tracing.ts";

/** Begins to trace. The code is loaded only where it is wanted. */
export async function openTracing(
	settings: TracingSettings,
	operations: ReadonlySet<string>,
	log: Logger,
): Promise<Tracing> {
	for (const notice of settings.notices) log.warn(notice);
	const { makeTracing } = await import("./tracing.ts");
	return makeTracing(settings, operations, (message) =>
		log.warn({ reason: message }, "traces cannot be sent"),
	);
}
