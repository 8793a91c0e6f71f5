import { z } from "zod";
import { issuePath } from "../errors.ts";
import { MAX_EMAIL } from "../records/text-schemas.ts";
import { shallowEvidence } from "./evidence.ts";
import { NOT_RFC3339, parseRfc3339 } from "./rfc3339.ts";
import {
	type Evidence,
	MAX_DISPLAY_LENGTH,
	MAX_KEY_LENGTH,
	MAX_RESULTS,
	PLATFORMS,
	POSTURE_STATUSES,
} from "./terms.ts";
import { visibleText } from "./visible-text.ts";

// The shapes of requests to the Device Agent API. The service ignores unknown fields.

/**
 * Makes the error options of a field: `message` for a wrong type, "is required" for a missing
 * field.
 */
function says(message: string) {
	return {
		error: (issue: { input?: unknown }) =>
			issue.input === undefined ? "is required" : message,
	};
}

const body = says("must be a JSON object");
const text = z.string(says("must be a string"));
// The code does not use Zod's own min and max, because they read the length of a value of any type
// and may throw.
const required = text
	.refine((value) => value !== "", "must not be empty")
	.meta({ minLength: 1 });

// The next three schemas change their value in a check and not in a transform. A transform is a
// schema of its own, and the service parses six of these texts for each heartbeat.

/**
 * A text that names something. Hidden characters are removed, because they could make two names
 * look alike.
 */
const key = text
	.check((payload) => {
		payload.value = visibleText(payload.value);
		const { value, issues } = payload;
		if (value !== "" && value.length <= MAX_KEY_LENGTH) return;
		const message =
			value === ""
				? "must not be empty"
				: `must have at most ${MAX_KEY_LENGTH} characters`;
		issues.push({ code: "custom", input: value, message });
	})
	.meta({ minLength: 1, maxLength: MAX_KEY_LENGTH });

/**
 * A text that only people read. A text that is too long is cut, so that it never makes the service
 * reject a device.
 */
const display = text.overwrite(cutForDisplay);
const requiredDisplay = text
	.check((payload) => {
		if (payload.value !== "") payload.value = cutForDisplay(payload.value);
		else {
			const message = "must not be empty";
			payload.issues.push({ code: "custom", input: "", message });
		}
	})
	.meta({ minLength: 1 });

function cutForDisplay(value: string): string {
	const visible = visibleText(value) || (value && "\ufffd");
	return visible.length <= MAX_DISPLAY_LENGTH
		? visible
		: visible.slice(0, MAX_DISPLAY_LENGTH).toWellFormed();
}

export const enrollRequest = z.object(
	{
		token: required,
		// A wrong address, also one that is too long, is not an error, because the answer must not say
		// which people exist.
		owner_email: z
			.string()
			.max(MAX_EMAIL)
			.transform((address) => visibleText(address).trim())
			.optional()
			.catch(undefined),
	},
	body,
);

export const heartbeatRequest = z.object(
	{
		hardware_uuid: key,
		serial_number: display.nullish(),
		hostname: requiredDisplay,
		platform: z.enum(PLATFORMS, says(`must be one of ${PLATFORMS.join(", ")}`)),
		os_version: requiredDisplay,
		agent_version: requiredDisplay,
	},
	body,
);

export type HeartbeatRequest = z.infer<typeof heartbeatRequest>;

const evidence = z
	.custom<Evidence>(
		(value) =>
			typeof value === "object" && value !== null && !Array.isArray(value),
		{ error: "must be a JSON object", abort: true },
	)
	.overwrite(shallowEvidence)
	.meta({ type: "object" });

const observedAt = text
	.meta({ format: "date-time" })
	.transform((time, context) => {
		const microseconds = parseRfc3339(time);
		if (microseconds === undefined) {
			context.addIssue({
				code: "custom",
				message: NOT_RFC3339,
			});
			return z.NEVER;
		}
		return microseconds;
	});

export const postureResult = z.object(
	{
		check_key: key,
		status: z.enum(
			POSTURE_STATUSES,
			says(`must be one of ${POSTURE_STATUSES.join(", ")}`),
		),
		evidence: evidence.nullish(),
		/** The time is parsed to microseconds since 1970. */
		observed_at: observedAt,
		correlation_id: text.nullish(),
	},
	says("must be a JSON object"),
);

export type PostureResult = z.infer<typeof postureResult>;

export const posturesRequest = z.object(
	{
		// The number of results is checked before any single result, because one megabyte can hold half
		// a million wrong results.
		results: z
			.array(z.unknown(), says("must be an array"))
			.refine(
				(results) => results.length <= MAX_RESULTS,
				`must have at most ${MAX_RESULTS} entries`,
			)
			.pipe(z.array(postureResult)),
	},
	body,
);

/**
 * Describes what is wrong with a body and names each field, as in `results[3].status must be one of
 * …`.
 */
export function describeIssues(error: z.ZodError): string {
	const shown = error.issues.slice(0, 5).map((issue) => {
		const path = issuePath(issue.path);
		return `${path || "the body"} ${issue.message}`;
	});
	const more = error.issues.length - shown.length;
	return shown.join("; ") + (more > 0 ? `; and ${more} more` : "");
}
