/**
 * The controls of frameworks that device checks test, by the framework's name and the control's
 * number in its section or name.
 */
export const CONTROLS_OF_CHECKS: readonly {
	/** Part of the name of the framework, in any case. */
	framework: string;
	/** The numbers of controls, by the key of the check. */
	controls: Record<string, readonly string[]>;
}[] = [
	{
		framework: "27001",
		controls: {
			DISK_ENCRYPTION: ["8.1", "8.24"],
			SCREEN_LOCK: ["8.1", "8.5"],
			FIREWALL_ENABLED: ["8.1", "8.20"],
			TIME_SYNC: ["8.17"],
			OS_VERSION: ["8.1", "8.8"],
			AUTO_UPDATE: ["8.8"],
			PASSWORD_POLICY: ["8.5"],
			REMOTE_LOGIN: ["8.5", "8.20"],
			MALWARE_PROTECTION: ["8.7"],
		},
	},
	{
		framework: "soc 2",
		controls: {
			DISK_ENCRYPTION: ["CC6.1", "CC6.7"],
			SCREEN_LOCK: ["CC6.1"],
			FIREWALL_ENABLED: ["CC6.1", "CC6.7"],
			OS_VERSION: ["CC7.1"],
			AUTO_UPDATE: ["CC7.1"],
			PASSWORD_POLICY: ["CC6.1"],
			REMOTE_LOGIN: ["CC6.1", "CC6.7"],
			MALWARE_PROTECTION: ["CC6.8"],
		},
	},
	{
		framework: "nist csf",
		controls: {
			DISK_ENCRYPTION: ["PR.DS-01"],
			SCREEN_LOCK: ["PR.AA-03"],
			FIREWALL_ENABLED: ["PR.IR-01"],
			TIME_SYNC: ["PR.PS-04"],
			OS_VERSION: ["PR.PS-02"],
			AUTO_UPDATE: ["PR.PS-02"],
			PASSWORD_POLICY: ["PR.AA-01"],
			REMOTE_LOGIN: ["PR.AA-05"],
			MALWARE_PROTECTION: ["PR.PS-05"],
		},
	},
	{
		framework: "cis",
		controls: {
			DISK_ENCRYPTION: ["3.6"],
			SCREEN_LOCK: ["4.3"],
			FIREWALL_ENABLED: ["4.4", "4.5"],
			TIME_SYNC: ["8.4"],
			OS_VERSION: ["7.3"],
			AUTO_UPDATE: ["7.3"],
			PASSWORD_POLICY: ["5.2"],
			REMOTE_LOGIN: ["4.6"],
			MALWARE_PROTECTION: ["10.1"],
		},
	},
];

const rows = CONTROLS_OF_CHECKS.flatMap(({ framework, controls }) =>
	Object.entries(controls).flatMap(([check, numbers]) =>
		numbers.map((number) => {
			// A number ends where no further digit follows, so 8.1 is not 8.17. "A." may stand before it.
			const pattern = `(^|[^0-9.])(A\\.)?${number.replaceAll(".", "\\.")}($|[^0-9.]|\\.($|[^0-9]))`;
			return `('${framework}', '${check}', '${pattern}')`;
		}),
	),
);

/** An SQL condition: the control `c` of the framework `f` is tested by the check `m.check_key`. */
export const TESTED_BY = `
	f.name ilike '%' || m.framework || '%' and (c.section_title ~ m.pattern or c.name ~ m.pattern)`;

/** The mapping as an SQL table. */
export const CHECK_MAPPING = `(values ${rows.join(", ")}) m (framework, check_key, pattern)`;
