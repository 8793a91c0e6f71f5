import { Group, Kbd, Modal, Stack, Table, Title } from "@mantine/core";
import { MISSING_DAYS } from "../../../src/devices/terms.ts";
import { TextLink } from "../parts/links.tsx";

const MODIFIER = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";

const KEYS = [
	[[MODIFIER, "K"], "Search records, pages and commands such as “New risk”"],
	[["/"], "Go to the search field of the list"],
	[["?"], "Open this help"],
	[["Esc"], "Close a dialog or a menu"],
	[["Tab"], "Skip the navigation, at the top of a page"],
] as const;

/** The words of docs/glossary.md that people meet first. */
const WORDS = [
	["Register", "A list of records of one kind, such as Risks or Vendors"],
	["Measure", "What the organization does, such as testing its backups"],
	["Control", "What a framework requires; measures cover it"],
	["Member", "Somebody who signs in here, with a role"],
	[
		"Person",
		"Somebody who can own records and devices. Members are people too",
	],
	["Owner", "The person who answers for a record or a device"],
	[
		"Check",
		"One question about a device, such as whether its disk is encrypted",
	],
	[
		"In grace",
		"A check that fails, for fewer days than the device policy allows",
	],
	["Past grace", "A check that fails for longer, without an exception"],
	["Stale", "A device without a heartbeat for two intervals"],
	["Missing", `A device without a heartbeat for ${MISSING_DAYS} days`],
	["Silence", "A time without any report. No check counts as passing in it"],
	["Overdue", "Still open after its due date"],
] as const;

/** The documents that people need first. Each of their pages lists all. */
const DOCUMENTS = [
	["console", "The console"],
	["devices", "Devices and checks"],
	["agent", "The agent"],
	["mcp", "AI clients"],
	["operating", "Operating"],
	["glossary", "Glossary"],
] as const;

/** Shows the keys and the most important words of the console. */
export function HelpDialog({ onClose }: { onClose: () => void }) {
	return (
		<Modal
			opened
			onClose={onClose}
			title="Help"
			size="lg"
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<Stack gap="lg">
				<section>
					<Title order={3} mb="xs">
						Keys
					</Title>
					<Table>
						<Table.Tbody>
							{KEYS.map(([keys, does]) => (
								<Table.Tr key={does}>
									<Table.Th scope="row" w={120}>
										{keys.map((key) => (
											<Kbd key={key} mr={4}>
												{key}
											</Kbd>
										))}
									</Table.Th>
									<Table.Td>{does}</Table.Td>
								</Table.Tr>
							))}
						</Table.Tbody>
					</Table>
				</section>
				<section>
					<Title order={3} mb="xs">
						Words
					</Title>
					<Table>
						<Table.Tbody>
							{WORDS.map(([word, means]) => (
								<Table.Tr key={word}>
									<Table.Th scope="row" w={120}>
										{word}
									</Table.Th>
									<Table.Td>{means}</Table.Td>
								</Table.Tr>
							))}
						</Table.Tbody>
					</Table>
				</section>
				<section>
					<Title order={3} mb="xs">
						Documentation of this version
					</Title>
					<Group gap="md">
						{DOCUMENTS.map(([page, label]) => (
							<TextLink
								key={page}
								to="/help/$page"
								params={{ page }}
								size="sm"
								onClick={onClose}
							>
								{label}
							</TextLink>
						))}
					</Group>
				</section>
			</Stack>
		</Modal>
	);
}
