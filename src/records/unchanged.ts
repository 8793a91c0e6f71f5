import { AppError } from "../errors.ts";
import { obvious } from "./shown-in-tool-list.ts";
import { timeSchema } from "./text-schemas.ts";

/** The input field that protects an update from overwriting somebody else's change. */
export const unchangedShape = {
	if_updated_at: timeSchema()
		.optional()
		.meta(obvious("updated_at as read; rejected if it has changed")),
};

/**
 * Throws a conflict if the record has changed since the caller read it. The record must be locked.
 * Times are compared in milliseconds, the precision in which callers see them.
 */
export function requireUnchanged(
	noun: string,
	record: Record<string, unknown>,
	readAt: string | undefined,
): void {
	if (readAt === undefined) return;
	const { updated_at: now } = record;
	if (new Date(String(now)).getTime() === new Date(readAt).getTime()) return;
	const message = `the ${noun} was last changed at ${now}, not at ${readAt}; read it again, and repeat your change if it is still right`;
	throw new AppError("conflict", `if_updated_at: ${message}`, {
		fields: [{ field: "if_updated_at", message }],
	});
}
