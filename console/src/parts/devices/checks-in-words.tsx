import type { Device } from "./device-words.tsx";

/** Says how many checks of a device passed and failed, as its latest results are. */
export function ChecksInWords({ postures }: Pick<Device, "postures">) {
	const having = (wanted: string) =>
		postures.filter(({ status }) => status === wanted).length;
	const others = having("NOT_APPLICABLE");
	return (
		<>
			Checks: {having("PASS")} passed, {having("FAIL")} failed,{" "}
			{having("UNKNOWN")} could not be determined
			{others > 0 && `, ${others} not applicable`}.
		</>
	);
}
