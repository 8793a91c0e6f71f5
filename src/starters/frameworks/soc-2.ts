import { type StarterFramework, section } from "../shape.ts";

/**
 * The common criteria of the category Security, which every report covers. The names are our own
 * words, because the text of the criteria is protected.
 */
export const SOC_2: StarterFramework = {
	key: "soc-2",
	name: "SOC 2",
	version: "2017",
	description:
		"Trust services criteria for security: the common criteria, by their numbers and in our own words. The AICPA publishes the exact text.",
	controls: [
		...section("CC1 Control environment", [
			["CC1.1", "Integrity and ethics are lived", "policies training"],
			["CC1.2", "The board oversees control", "risk-review"],
			["CC1.3", "Structures and responsibilities are set", "roles"],
			[
				"CC1.4",
				"Capable people are found and kept",
				"joiners-leavers training",
			],
			["CC1.5", "People answer for their duties", "policies roles"],
		]),
		...section("CC2 Communication", [
			["CC2.1", "Good information is used for control", "logging asset-list"],
			["CC2.2", "Duties are communicated inside", "policies training"],
			["CC2.3", "Matters are communicated outside", "incident-response"],
		]),
		...section("CC3 Risk assessment", [
			["CC3.1", "Objectives are clear", "risk-review"],
			["CC3.2", "Risks are found and analyzed", "risk-review"],
			["CC3.3", "Fraud is considered", "risk-review"],
			[
				"CC3.4",
				"Changes that matter are assessed",
				"risk-review change-control",
			],
		]),
		...section("CC4 Monitoring", [
			["CC4.1", "Controls are evaluated", "internal-audit device-baseline"],
			["CC4.2", "Deficiencies are reported and fixed", "internal-audit"],
		]),
		...section("CC5 Control activities", [
			["CC5.1", "Controls answer risks", "risk-review"],
			["CC5.2", "Controls over technology exist", "policies"],
			["CC5.3", "Policies put controls into practice", "policies"],
		]),
		...section("CC6 Access", [
			[
				"CC6.1",
				"Access to systems is protected",
				"mfa least-privilege encryption",
			],
			["CC6.2", "Users are registered and removed", "joiners-leavers"],
			["CC6.3", "Access follows roles", "least-privilege access-review"],
			["CC6.4", "Physical access is restricted", "premises"],
			["CC6.5", "Equipment is wiped before disposal", "disposal"],
			["CC6.6", "Attacks from outside are kept out", "network-security mfa"],
			["CC6.7", "Data in transit is protected", "encryption device-baseline"],
			["CC6.8", "Malware is prevented and found", "malware-protection"],
		]),
		...section("CC7 Operation", [
			["CC7.1", "Vulnerabilities are found", "patching device-baseline"],
			["CC7.2", "Systems are watched for anomalies", "logging"],
			["CC7.3", "Events are evaluated", "incident-response logging"],
			["CC7.4", "Incidents are answered", "incident-response"],
			["CC7.5", "Systems recover from incidents", "backups incident-response"],
		]),
		...section("CC8 Change", [
			[
				"CC8.1",
				"Changes are authorized and tested",
				"change-control secure-development",
			],
		]),
		...section("CC9 Risk mitigation", [
			["CC9.1", "Disruption is prepared for", "continuity"],
			["CC9.2", "Risks of vendors are managed", "vendor-review"],
		]),
	],
};
