import type { Config } from "../config/config.ts";
import type { Finding } from "./doctor.ts";

/**
 * Requests the metrics from the service with this configuration on this machine. `text` is absent
 * if that service does not answer.
 */
export async function readMetrics(
	config: Config,
): Promise<{ finding: Finding; text?: string }> {
	const check = "metrics";
	const anywhere = new Map([
		["0.0.0.0", "127.0.0.1"],
		["::", "::1"],
	]);
	const name = anywhere.get(config.metricsHost) ?? config.metricsHost;
	const url = `http://${name.includes(":") ? `[${name}]` : name}:${config.metricsPort}/metrics`;
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
	} catch {
		return {
			finding: {
				check,
				status: "warning",
				found: `${url} does not answer`,
				advice:
					"the metrics answer only while the service runs on this machine; start the service",
			},
		};
	}
}
