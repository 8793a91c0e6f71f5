import { UNATTENDED_HEADER } from "../../src/sign-in/unattended-header.ts";

/** Time without a key, a touch or a movement of the mouse after which nobody is at the page. */
const AWAY_MS = 60_000;

/** Events that only a person causes. */
export const INPUT_EVENTS = [
	"pointerdown",
	"pointermove",
	"keydown",
	"wheel",
] as const;

let lastInputAt = Date.now();

export function noteInput(): void {
	lastInputAt = Date.now();
}

/** Returns the headers that tell the service whether somebody is at the page. */
export function attendanceHeaders(): Record<string, string> {
	return Date.now() - lastInputAt > AWAY_MS ? { [UNATTENDED_HEADER]: "1" } : {};
}
