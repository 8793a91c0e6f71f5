import { Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import { CardTable } from "../../parts/card-table.tsx";
import { platformLabel } from "../../parts/devices/device-words.tsx";
import { FIELD_LABELS, RULE_LABELS } from "../../parts/field-labels.ts";

export type Policy = OutputOf<"getDevicePolicy">["policy"];

/** Shows the rules to those who may not change them. */
export function CheckRulesTable({ policy }: { policy: Policy }) {
	return (
		<>
			<CardTable
				label="Rules by check"
				minWidth={560}
				columns={[
					"Check",
					"Required on",
					RULE_LABELS.grace_days,
					RULE_LABELS.new_device_grace_days,
					RULE_LABELS.opens_nonconformity,
				]}
				rows={policy.checks.map((rule) => ({
					key: rule.check_key,
					cells: [
						rule.check_name ?? rule.check_key,
						rule.is_required
							? rule.platforms.map(platformLabel).join(", ")
							: "Not required",
						daysInWords(rule.grace_days),
						daysInWords(rule.new_device_grace_days),
						rule.opens_nonconformity
							? `${rule.severity === "MAJOR" ? "Major" : "Minor"}, one ${rule.per_device ? "a device" : "for the check"}`
							: "None",
					],
				}))}
			/>
			<Text size="sm" mt="md">
				{FIELD_LABELS.device_policy.max_silence_days}:{" "}
				{daysInWords(policy.max_silence_days)}
			</Text>
			<Text size="sm">
				{FIELD_LABELS.device_policy.exceptions_need_two_people}:{" "}
				{policy.exceptions_need_two_people ? "yes" : "no"}
			</Text>
		</>
	);
}

const daysInWords = (days: number) => (days === 1 ? "1 day" : `${days} days`);
