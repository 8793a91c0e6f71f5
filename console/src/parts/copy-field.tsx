import {
	Alert,
	Button,
	Code,
	CopyButton,
	Group,
	Stack,
	Text,
} from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { createContext, useContext } from "react";

/** Learns which texts the reader has copied. */
export const Copied = createContext<(text: string) => void>(() => {});

/** Shows a text that the reader will use elsewhere, with a button that copies it. */
export function CopyField({ label, value }: { label: string; value: string }) {
	const noteCopied = useContext(Copied);
	return (
		<Stack gap={4}>
			<Group justify="space-between" align="flex-end" wrap="nowrap">
				<Text size="sm" fw={500}>
					{label}
				</Text>
				<CopyButton value={value} timeout={3000}>
					{({ copied, copy }) => (
						<Button
							// Beside a long label, the button would become too narrow for its text.
							flex="none"
							size="compact-sm"
							variant="default"
							onClick={() => {
								copy();
								noteCopied(value);
							}}
							leftSection={
								copied ? (
									<IconCheck size={14} aria-hidden />
								) : (
									<IconCopy size={14} aria-hidden />
								)
							}
							aria-label={`${copied ? "Copied" : "Copy"} ${label}`}
						>
							<span aria-live="polite">{copied ? "Copied" : "Copy"}</span>
						</Button>
					)}
				</CopyButton>
			</Group>
			<Code
				block
				tabIndex={0}
				aria-label={label}
				style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
			>
				{value}
			</Code>
		</Stack>
	);
}

/** Shows one or more secrets that the service cannot show again. */
export function SecretOnce({
	label,
	value,
}: {
	label: string;
	value: string | readonly string[];
}) {
	const isOne = typeof value === "string";
	return (
		<Stack gap="sm">
			<Alert
				color="yellow"
				variant="outline"
				title={isOne ? "Copy it now" : "Copy them now"}
			>
				{isOne
					? "This is shown once. It is not stored in a readable form, so nobody can show it again."
					: "These are shown once. They are not stored in a readable form, so nobody can show them again."}
			</Alert>
			<CopyField label={label} value={isOne ? value : value.join("\n")} />
		</Stack>
	);
}
