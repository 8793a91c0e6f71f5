/** Returns a time zone in which this time is on another day than in UTC, and that day. */
export function zoneOfAnotherDay(time: string): { zone: string; day: string } {
	const isLate = new Date(time).getUTCHours() >= 10;
	const hours = isLate ? 14 : -11;
	const there = new Date(Date.parse(time) + hours * 3_600_000);
	return {
		zone: isLate ? "Pacific/Kiritimati" : "Pacific/Pago_Pago",
		day: there.toISOString().slice(0, 10),
	};
}
