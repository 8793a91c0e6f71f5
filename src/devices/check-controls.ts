import type { CheckKey } from "./terms.ts";

/**
 * The controls of frameworks that device checks test. The framework is found by its name and
 * version, and the control by the number in its section or name. docs/controls.md says where the
 * numbers come from.
 */
const CONTROLS_OF_CHECKS: readonly {
	/** Regular expression for the name and version of the framework, in any case. */
	framework: string;
	/** Expression for editions whose numbers mean something else. */
	otherEdition?: string;
	/** The numbers of controls, by the key of the check. */
	controls: Partial<Record<CheckKey, readonly string[]>>;
}[] = [
	{
		framework: "27001",
		otherEdition: "\\m(2005|2013)\\M",
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
		framework: "soc ?2|trust services criteria",
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
		framework: "nist csf|cybersecurity framework",
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
		framework: "\\mcis\\M",
		otherEdition: "\\mv?[67](\\.|\\M)",
		controls: {
			DISK_ENCRYPTION: ["3.6"],
			SCREEN_LOCK: ["4.3"],
			FIREWALL_ENABLED: ["4.4", "4.5"],
			TIME_SYNC: ["8.4"],
			OS_VERSION: ["2.2"],
			AUTO_UPDATE: ["7.3"],
			PASSWORD_POLICY: ["5.2"],
			REMOTE_LOGIN: ["4.6"],
			MALWARE_PROTECTION: ["10.1"],
		},
	},
];

const rows = CONTROLS_OF_CHECKS.flatMap(
	({ framework, otherEdition = "", controls }) =>
		Object.entries(controls).flatMap(([check, numbers]) =>
			numbers.map(
				(number) =>
					`('${framework}', '${otherEdition}', '${check}', '${number}')`,
			),
		),
);

/**
 * Returns the mapping for the framework `f` as SQL rows: the key of a check and the number of a
 * control.
 */
export const mappingOf = (f: string) => `
	select m.check_key collate "C" as check_key, m.number
	from (values ${rows.join(", ")}) m (framework, other_edition, check_key, number)
	where concat(${f}.name, ' ', ${f}.version) ~* m.framework
		and (m.other_edition = '' or concat(${f}.name, ' ', ${f}.version) !~* m.other_edition)`;

/**
 * Returns SQL of the numbers in the section and the name of the control `c`, as an array. "A." and
 * "A" before a number are left out, and so are points at the end: A.8.24, 8.24 and 8.24. are the
 * same. There are only two patterns, because PostgreSQL keeps few of them.
 */
const numbersIn = (c: string) => `string_to_array(regexp_replace(
	regexp_replace(upper(${c}.section_title || ' ' || ${c}.name), '[^A-Z0-9.-]+', ' ', 'g'),
	'(^| )A\\.?(?=[0-9])|[.-]+(?= |$)', '\\1', 'g'
), ' ')`;

/**
 * Returns SQL of the keys of the checks that test the control `c`, as an array: those that people
 * chose, or else those of the mapping. `mapping` is SQL of rows as `mappingOf` selects them.
 */
export const checksOfControl = (c: string, mapping: string) => `coalesce(
	${c}.tested_by_checks, array(
		select distinct m.check_key
		from unnest(${numbersIn(c)}) n (number) join ${mapping} m on m.number = n.number
		order by m.check_key
	)
)`;

/** The same for a statement about any controls, which finds the framework of each. */
export const checksOfAnyControl = (c: string) =>
	checksOfControl(
		c,
		`(
			select x.* from frameworks f cross join lateral (${mappingOf("f")}) x
			where f.organization_id = ${c}.organization_id and f.id = ${c}.framework_id
		)`,
	);
