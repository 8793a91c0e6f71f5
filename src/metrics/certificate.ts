import { Gauge, type Registry } from "prom-client";
import {
	type PublicCertificate,
	readPublicCertificate,
} from "../http/public-certificate.ts";
import { HOUR_MS } from "../units.ts";

const MAX_AGE_MS = HOUR_MS;
/** The proxy is asked again after this time if it did not answer. */
const RETRY_MS = 60_000;

/**
 * Adds the begin and the end of the certificate at an https address. The certificate is read in the
 * background, so that a proxy that hangs delays no metrics. If the proxy does not answer any more,
 * the last certificate stays, because its end is still true.
 */
export function addCertificate(baseUrl: string, registers: Registry[]): void {
	let last: PublicCertificate | undefined;
	let nextMs = 0;
	const refresh = () => {
		if (!baseUrl.startsWith("https:") || Date.now() < nextMs) return;
		nextMs = Date.now() + RETRY_MS;
		readPublicCertificate(baseUrl).then(
			(found) => {
				last = found;
				nextMs = Date.now() + MAX_AGE_MS;
			},
			() => {},
		);
	};
	const gauge = (name: string, help: string, read: "from" | "until") =>
		new Gauge({
			name,
			help,
			aggregator: "min",
			registers,
			collect() {
				refresh();
				this.remove();
				if (last) this.set(last[read].getTime() / 1000);
			},
		});
	gauge(
		"assay_certificate_begin_timestamp_seconds",
		"Begin of the certificate at ASSAY_BASE_URL, in seconds since 1970.",
		"from",
	);
	gauge(
		"assay_certificate_end_timestamp_seconds",
		"End of the certificate at ASSAY_BASE_URL, in seconds since 1970.",
		"until",
	);
	refresh();
}
