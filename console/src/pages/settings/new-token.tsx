import { Stack, Switch, Text, Title } from "@mantine/core";
import { useState } from "react";
import { CopyField, SecretOnce } from "../../parts/copy-field.tsx";
import { type SaveOnce, SaveOnceButtons } from "../../parts/save-once.tsx";
import {
	claudeCommand,
	curlCommand,
	exportCommand,
	mcpServersJson,
	pythonConfiguration,
	VARIABLE,
} from "./connect-commands.ts";

/** Shows a token once, together with everything that is needed to use it. */
export function NewToken({ token, once }: { token: string; once: SaveOnce }) {
	const [isByVariable, setIsByVariable] = useState(false);
	const baseUrl = window.location.origin;
	const inShell = {
		baseUrl,
		token: isByVariable ? `$${VARIABLE}` : token,
	};
	const inFile = {
		baseUrl,
		token: isByVariable ? `\${${VARIABLE}}` : token,
	};
	const inPython = {
		baseUrl,
		token: isByVariable
			? `f"Bearer {os.environ['${VARIABLE}']}"`
			: `"Bearer ${token}"`,
	};
	return (
		<Stack>
			<SecretOnce label="API token" value={token} />
			<Title order={3} mt="xs">
				Connect a client
			</Title>
			<Switch
				label={`Store the token in the variable ${VARIABLE}`}
				description="Use the variable in place of the token, to keep the token out of files."
				checked={isByVariable}
				onChange={(event) => setIsByVariable(event.currentTarget.checked)}
			/>
			{isByVariable && (
				<CopyField label="Variable" value={exportCommand(token)} />
			)}
			<CopyField label="Claude Code" value={claudeCommand(inShell)} />
			<CopyField
				label="mcpServers, for a client's configuration file"
				value={mcpServersJson(inFile)}
			/>
			<CopyField
				label="Python clients, such as LangChain"
				value={pythonConfiguration(inPython)}
			/>
			<CopyField label="curl, to test the token" value={curlCommand(inShell)} />
			<Text size="xs" c="dimmed">
				{isByVariable &&
					`Claude Code replaces \${${VARIABLE}} when it starts; for Cursor, write \${env:${VARIABLE}} instead. `}
				LangChain, OpenAI Agents, CrewAI and smolagents need errors=result in
				the address, or a rejected call ends their session. Never put a token
				into version control.
			</Text>
			<SaveOnceButtons
				secrets="token"
				consequence="Nobody can show it again. Revoke it then, and create another one."
				once={once}
			/>
		</Stack>
	);
}
