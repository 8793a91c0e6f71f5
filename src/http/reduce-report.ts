import { parentPort, workerData } from "node:worker_threads";
import { smallEvidence } from "../devices/evidence.ts";
import { type Evidence, MAX_RESULTS } from "../devices/terms.ts";

/**
 * Reduces the JSON text in `workerData` to a report that the main thread can parse quickly, and
 * posts it. The fields of the protocol stay as they are, except that evidence with too many values
 * becomes a note. Posts null if the text is not a JSON object.
 */

const FIELDS = ["check_key", "status", "observed_at", "correlation_id"];

function reduce(text: string): string | null {
	let body: unknown;
	try {
		body = JSON.parse(text);
	} catch {
		return null;
	}
	if (!isObject(body)) return null;
	const { results } = body;
	return JSON.stringify({
		results: Array.isArray(results)
			? // One result too many is enough for the error.
				results.slice(0, MAX_RESULTS + 1).map(reduceResult)
			: withoutContents(results),
	});
}

function reduceResult(result: unknown): unknown {
	if (!isObject(result)) return withoutContents(result);
	const { evidence } = result;
	return {
		...Object.fromEntries(
			FIELDS.map((name) => [name, withoutContents(result[name])]),
		),
		evidence: isObject(evidence)
			? smallEvidence(evidence as Evidence)
			: withoutContents(evidence),
	};
}

/** Returns a value of the same type. Only the type matters for an error about the value. */
function withoutContents(value: unknown): unknown {
	if (Array.isArray(value)) return [];
	return isObject(value) ? {} : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

parentPort?.postMessage(reduce(workerData as string));
