import {
	Button,
	Checkbox,
	Collapse,
	Group,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { useId, useState } from "react";
import styles from "./first-steps.module.css";

interface Starter {
	key: string;
	label: string;
	description?: string;
	group: string;
	/** True if the organization has it already. */
	isThere: boolean;
}

/** Lists starter records that the reader can take or leave. The list is folded at first. */
export function StarterList({
	title,
	starters,
	chosen,
	onChange,
}: {
	title: string;
	starters: Starter[];
	chosen: string[];
	onChange: (chosen: string[]) => void;
}) {
	const id = useId();
	const [isOpen, setOpen] = useState(false);
	const open = starters.filter(({ isThere }) => !isThere);
	const groups = [...Map.groupBy(starters, ({ group }) => group)];
	const isAll = open.length > 0 && chosen.length === open.length;
	return (
		<div>
			<Group gap="sm">
				<Checkbox
					label={
						<Text span fw={500}>
							{title}: {chosen.length} of {open.length}
						</Text>
					}
					disabled={open.length === 0}
					checked={isAll}
					indeterminate={chosen.length > 0 && !isAll}
					onChange={() => onChange(isAll ? [] : open.map(({ key }) => key))}
				/>
				<Button
					variant="subtle"
					size="compact-sm"
					aria-expanded={isOpen}
					aria-controls={id}
					aria-label={`${isOpen ? "Hide" : "Choose"} ${title.toLowerCase()}`}
					onClick={() => setOpen(!isOpen)}
				>
					{isOpen ? "Hide" : "Choose …"}
				</Button>
			</Group>
			<Collapse expanded={isOpen} id={id}>
				{isOpen && (
					<Stack gap="md" pl="xl" py="sm">
						{groups.map(([group, ofGroup]) => (
							<div key={group}>
								<Title order={3} size="h5" mb="xs">
									{group}
								</Title>
								<ul className={styles.list}>
									{ofGroup.map((starter) => (
										<li key={starter.key}>
											<One
												starter={starter}
												isChosen={chosen.includes(starter.key)}
												onChange={(isChosen) =>
													onChange(
														isChosen
															? [...chosen, starter.key]
															: chosen.filter((key) => key !== starter.key),
													)
												}
											/>
										</li>
									))}
								</ul>
							</div>
						))}
					</Stack>
				)}
			</Collapse>
		</div>
	);
}

function One({
	starter: { label, description, isThere },
	isChosen,
	onChange,
}: {
	starter: Starter;
	isChosen: boolean;
	onChange: (isChosen: boolean) => void;
}) {
	return (
		<Checkbox
			label={isThere ? `${label} (added)` : label}
			description={description}
			disabled={isThere}
			checked={isThere || isChosen}
			onChange={({ currentTarget }) => onChange(currentTarget.checked)}
		/>
	);
}
