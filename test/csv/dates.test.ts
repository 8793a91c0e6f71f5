import fc from "fast-check";
import { expect, test } from "vitest";
import { readDay } from "../../src/csv/dates.ts";

const day = fc
	.date({
		min: new Date("1900-01-01T00:00:00Z"),
		max: new Date("9999-12-31T00:00:00Z"),
		noInvalidDate: true,
	})
	.map((date) => date.toISOString().slice(0, 10));

const monthOf = (iso: string, month: "long" | "short") =>
	new Date(`${iso}T00:00:00Z`).toLocaleDateString("en-US", {
		timeZone: "UTC",
		month,
	});

test("a day is read in every form that spreadsheets write", () => {
	fc.assert(
		fc.property(day, (iso) => {
			const [year = "", month = "", date = ""] = iso.split("-");
			const [m, d] = [Number(month), Number(date)];
			const [long, short] = [monthOf(iso, "long"), monthOf(iso, "short")];
			const forms = [
				...[iso, ` ${iso}`, `${year}/${m}/${d}`, `${year}/${month}/${date}`],
				...[`${year}. ${m}. ${d}.`, `${date}.${month}.${year}`],
				...[`${d}.${m}.${year}`, `${d}. ${m}. ${year}`],
				...[`${d} ${long} ${year}`, `${date}-${short}-${year}`],
				...[`${long} ${d}, ${year}`, `${short.toUpperCase()} ${d} ${year}`],
			];
			const times = [
				"",
				" 00:00:00",
				" 0:00",
				"T00:00:00.000Z",
				" 12:00:00 AM",
			];
			for (const form of forms) {
				for (const time of times) {
					expect(readDay(form + time, null), form + time).toBe(iso);
				}
			}
			for (const sign of ["/", "-"]) {
				const dmy = [d, m, year].join(sign);
				expect(readDay(`${dmy} 00:00:00`, "DMY")).toBe(iso);
				const mdy = [month, date, year].join(sign);
				expect(readDay(mdy, "MDY")).toBe(iso);
				expect(readDay(mdy, null)).toBe(d === m ? iso : undefined);
			}
		}),
	);
});

test("a text with two digits for the year, a day that does not exist or a time is no day", () => {
	for (const text of [
		...["31.12.26", "12/31/26", "31.4.2026", "2026-02-29", "29/2/2026"],
		...["13/13/2026", "1/2-2026", "31 Dezember 2026", "Ma 5, 2026", "46387"],
		...["2026-12-31 15:30", "2026-12-31T00:00:00+02:00", "tomorrow", "2026"],
		"1".repeat(10_000),
	]) {
		for (const order of ["DMY", "MDY", null] as const) {
			expect(readDay(text, order), text).toBeUndefined();
		}
	}
});
