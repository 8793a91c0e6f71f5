import { setTimeout as sleep } from "node:timers/promises";
import { DiagLogLevel, diag } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
	defaultResource,
	detectResources,
	envDetector,
	resourceFromAttributes,
} from "@opentelemetry/resources";
import {
	AlwaysOffSampler,
	AlwaysOnSampler,
	BatchSpanProcessor,
	ParentBasedSampler,
	type Sampler,
	TraceIdRatioBasedSampler,
	TracerProvider,
} from "@opentelemetry/sdk-trace";
import { VERSION } from "../version.ts";
import type { TracingSettings } from "./settings.ts";

/** Longest time that a receiver of traces can delay the stop of the service by not answering. */
const CLOSE_MS = 3_000;
const REPORT_EVERY_MS = 60_000;

/**
 * Keeps finished spans in memory and sends them. If spans cannot be sent, they are dropped and
 * `report` is called.
 */
export function openExport(
	{ protocol, sampler, ratio, batch }: TracingSettings,
	report: (message: string) => void,
): { provider: TracerProvider; close: () => Promise<void> } {
	reportTrouble(report);
	const exporter =
		protocol === "http/json" ? new JsonExporter() : new ProtobufExporter();
	const provider = new TracerProvider({
		sampler: makeSampler(sampler, ratio),
		spanProcessors: [new BatchSpanProcessor({ exporter, ...batch })],
		resource: defaultResource()
			.merge(
				resourceFromAttributes({
					"service.name": "assay",
					"service.version": VERSION,
				}),
			)
			// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are merged last, so they replace the
			// defaults above.
			.merge(detectResources({ detectors: [envDetector] })),
	});
	return {
		provider,
		close: async () => {
			const isClosed = new AbortController();
			await Promise.race([
				provider.shutdown().catch(() => {}),
				sleep(CLOSE_MS, undefined, { signal: isClosed.signal }).catch(() => {}),
			]);
			isClosed.abort();
		},
	};
}

/**
 * Reports trouble with sending, but not too often. If the receiver cannot be reached, there would
 * otherwise be a message every few seconds.
 */
function reportTrouble(report: (message: string) => void): void {
	let reportedAtMs = Number.NEGATIVE_INFINITY;
	const quiet = () => {};
	const tell = (message: string) => {
		if (performance.now() - reportedAtMs < REPORT_EVERY_MS) return;
		reportedAtMs = performance.now();
		report(message);
	};
	diag.setLogger(
		{ error: tell, warn: tell, info: quiet, debug: quiet, verbose: quiet },
		DiagLogLevel.WARN,
	);
}

function makeSampler(name: TracingSettings["sampler"], ratio: number): Sampler {
	const root = () => {
		if (name.endsWith("always_on")) return new AlwaysOnSampler();
		if (name.endsWith("always_off")) return new AlwaysOffSampler();
		return new TraceIdRatioBasedSampler(ratio);
	};
	return name.startsWith("parentbased_")
		? new ParentBasedSampler({ root: root() })
		: root();
}
