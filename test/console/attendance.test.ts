import { expect, onTestFinished, test, vi } from "vitest";
import { attendanceHeaders, noteInput } from "../../console/src/attendance.ts";
import { UNATTENDED_HEADER } from "../../src/sign-in/unattended-header.ts";

test("the console marks its requests when nobody has touched the page for a minute", () => {
	vi.useFakeTimers({ toFake: ["Date"] });
	onTestFinished(() => {
		vi.useRealTimers();
	});
	noteInput();
	vi.advanceTimersByTime(60_000);
	expect(attendanceHeaders()).toEqual({});
	vi.advanceTimersByTime(1);
	expect(attendanceHeaders()).toEqual({ [UNATTENDED_HEADER]: "1" });
	noteInput();
	expect(attendanceHeaders()).toEqual({});
});
