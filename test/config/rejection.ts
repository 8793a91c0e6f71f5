import { expect } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { AppError } from "../../src/errors.ts";

/** Returns the message with which the settings `env` are rejected. */
export function rejection(env: Record<string, string>): string {
	try {
		readConfig(env);
	} catch (error) {
		expect(error).toBeInstanceOf(AppError);
		expect((error as AppError).code).toBe("bad_request");
		return (error as AppError).message;
	}
	throw new Error(`not rejected: ${JSON.stringify(env)}`);
}
