import { Alert, Code, Stack, Text } from "@mantine/core";
import { IconTool } from "@tabler/icons-react";
import { daysInWords } from "../../parts/days.ts";

/** Says why a check fails or is unknown, and how to fix it. */
export function HowToFix({
	reason,
	remediation,
}: {
	reason: string | undefined;
	remediation: string | undefined;
}) {
	const why =
		reason &&
		daysInWords(`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`);
	if (!remediation) return why ? <Text size="sm">{why}</Text> : null;
	return (
		<Alert
			color="gray"
			variant="outline"
			icon={<IconTool aria-hidden />}
			title="How to fix it"
		>
			<Stack gap={6}>
				{why && <Text size="sm">{why}</Text>}
				{remediation.split("\n").map((line) => (
					<Text key={line} size="sm">
						<WithCommands text={line} />
					</Text>
				))}
			</Stack>
		</Alert>
	);
}

/** Shows a text in which commands stand between backticks. */
export function WithCommands({ text }: { text: string }) {
	return text.split("`").map((part, index) =>
		index % 2 === 1 ? (
			<Code key={part} style={{ overflowWrap: "anywhere" }}>
				{part}
			</Code>
		) : (
			daysInWords(part)
		),
	);
}
