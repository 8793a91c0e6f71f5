import type { Config } from "../config/config.ts";
import { codeOf } from "../db/sqlstate.ts";
import { plainReason } from "../errors.ts";
import type { Finding } from "./doctor.ts";

/** Addresses that mean all of a machine, and one of them that a program on this machine can use. */
const EVERYWHERE = new Map([
	["0.0.0.0", "127.0.0.1"],
	["::", "::1"],
]);

/** Returns the address at which this machine reaches what listens on `host` and `port`. */
export function localAddress(host: string, port: number | undefined): string {
	const name = EVERYWHERE.get(host) ?? host;
	return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/**
 * Requests the metrics from the service with this configuration on this machine. `text` is absent
 * if that service does not answer.
 */
export async function readMetrics(
	config: Config,
): Promise<{ finding: Finding; text?: string }> {
	const check = "metrics";
	const url = `${localAddress(config.metricsHost, config.metricsPort)}/metrics`;
	try {
		const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
		const text = await answer.text();
		if (answer.ok && text.includes("assay_info")) {
			return {
				finding: { check, status: "ok", found: `${url} answers` },
				text,
			};
		}
		return {
			finding: {
				check,
				status: "problem",
				found: `${url} answers with something else`,
				advice:
					"another program uses the port; set ASSAY_METRICS_PORT to a free one",
			},
		};
	} catch (error) {
		const { cause } = error as { cause?: unknown };
		const isStopped = codeOf(cause) === "ECONNREFUSED";
		return {
			finding: {
				check,
				status: "warning",
				found: isStopped
					? `nobody listens at ${url}`
					: `${url} does not answer (${plainReason(((cause ?? error) as Error).message)})`,
				advice: isStopped
					? "the metrics answer only while the service runs on this machine; start the service"
					: "the service is busy or hangs: look at what is said about service and database above",
			},
		};
	}
}
