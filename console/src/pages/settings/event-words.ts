import { EVENT_TYPES } from "../../../../src/events/types.ts";

const WORDS: Record<string, string> = EVENT_TYPES;

/** Returns an event in words, such as "A device was taken out of service". */
export function eventInWords(type: string): string {
	return WORDS[type]?.replace(/\.$/, "") ?? type;
}
