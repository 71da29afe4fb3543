import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig, variableNames } from '../../src/platform/config/config.ts';
import { served } from '../cli/served.ts';
import { storeForThisTest } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dockerfile = readFileSync('Dockerfile', 'utf8');
const compose = readFileSync('compose.yaml', 'utf8');
const stages = dockerfile.split(/^FROM /m).slice(1);
const image = stages.at(-1)!;
/** Paths of the clone that a stage copies. */
const copied = (stage: string) =>
  [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((line) => line[1]!.split(' '));

/** Names set for the gateway in compose.yaml. */
function composeSettings(): string[] {
  const gateway = compose.slice(compose.indexOf('  gateway:'), compose.indexOf('  postgres:'));
  const block = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(gateway)![1]!;
  return [...block.matchAll(/^ {6}([A-Z_]+):/gm)].map((line) => line[1]!);
}

interface Composer {
  command: string[];
  /** True if it is of the first generation, which takes the project's name from its options only. */
  isFirst: boolean;
}

/** Docker Compose as this machine has it: the plugin, or the program of its own; undefined = neither. */
function installedComposer(): Composer | undefined {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const { status, stdout } = spawnSync(command[0]!, [...command.slice(1), 'version'], { encoding: 'utf8' });
    if (status === 0) return { command, isFirst: /version 1\./.test(stdout) };
  }
  return undefined;
}

/** Runs `config` on compose.yaml in a folder of its own, with these lines in .env. */
function composeConfig({ command, isFirst }: Composer, folder: string, env: string) {
  writeFileSync(join(folder, 'compose.yaml'), isFirst ? compose.replace(/^name: .*\n/m, '') : compose);
  writeFileSync(join(folder, '.env'), env);
  const { POSTGRES_PASSWORD: _, ...others } = process.env;
  const args = [...command.slice(1), '-p', 'tapegraph', '-f', 'compose.yaml', 'config'];
  return spawnSync(command[0]!, args, { cwd: folder, env: others, encoding: 'utf8' });
}

/** Files outside src/ that the source reads, as paths of the clone. */
function readOutside(): string[] {
  const found = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:new URL\(|from |import\()'(\.\.?\/[^']+)'/g)].map((match) =>
      relative('.', join(dirname(file), match[1]!)),
    ),
  );
  return found.filter((path) => !path.startsWith('src/'));
}

describe('the container', () => {
  const folder = temporaryFolder();

  it('sets every setting, or shows it with its default in .env.example, which the gateway gets whole', () => {
    const env = [...image.matchAll(/^ENV (.+)$/gm)].flatMap((line) =>
      line[1]!.split(' ').map((pair) => pair.split('=')[0]!),
    );
    const example = new Map(
      [...readFileSync('.env.example', 'utf8').matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [
        name!,
        value,
      ]),
    );
    const others = ['NODE_ENV', 'POSTGRES_PASSWORD', 'PUBLISH', 'POSTGRES_IMAGE', 'REDIS_IMAGE'];
    const names = new Set([...env, ...composeSettings(), ...example.keys()]);
    expect([...names].sort()).toEqual([...variableNames, ...others].sort());
    expect(compose).toMatch(/^ {2}gateway:\n(?: {4}.*\n)*? {4}env_file: \.env$/m);
    // Settings of compose.yaml would override it; of those listed here, it passes only the log level on.
    const fixed = [...env, ...composeSettings()].filter((name) => name !== 'LOG_LEVEL');
    expect(fixed.filter((name) => example.has(name))).toEqual([]);
    expect(readConfig(Object.fromEntries(example))).toEqual(readConfig({}));
  });

  it('asks for every variable that compose.yaml needs in .env.example', () => {
    const needed = [...compose.matchAll(/\$\{([A-Z_]+):\?/g)].map((match) => match[1]!);
    expect(new Set(needed)).toEqual(new Set(['POSTGRES_PASSWORD']));
    expect(readFileSync('.env.example', 'utf8')).toMatch(/^POSTGRES_PASSWORD=$/m);
  });

  it('holds all that the source reads, copied from what there is and what may be sent to the builder', () => {
    // A file itself, or a folder that contains it.
    const holds = (path: string) => copied(image).some((each) => path === each || path.startsWith(`${each}/`));
    expect(readOutside().filter((path) => !holds(path))).toEqual([]);
    const sent = readFileSync('.dockerignore', 'utf8').split('\n');
    expect(sent).toContain('*');
    for (const path of stages.flatMap(copied)) {
      expect(existsSync(path), path).toBe(true);
      expect(sent).toContain(`!${path}`);
    }
  });

  it('runs as a user who is not root, and cannot write what it runs', () => {
    const steps = image.split('\n').map((line) => line.split(' ')[0]);
    expect(image).toMatch(/^USER 10001:10001$/m);
    expect(steps.lastIndexOf('COPY')).toBeLessThan(steps.indexOf('USER'));
    expect(image).not.toMatch(/chown(?! 10001:10001 \/data)/);
  });

  it('gives each service bounds, a numeric user, a pinned image, and nothing that it does not need', () => {
    const services = compose
      .slice(compose.indexOf('\nservices:'), compose.indexOf('\nnetworks:'))
      .split(/^ {2}(?=\w+:$)/m)
      .slice(1);
    expect(services.map((service) => service.split(':')[0])).toEqual(['gateway', 'postgres', 'redis']);
    for (const service of services) {
      for (const line of [
        /<<: \*hardened/,
        /^ {4}mem_limit: /m,
        /^ {4}memswap_limit: /m,
        /^ {4}pids_limit: \d+$/m,
        /^ {4}tmpfs:$/m,
        /^ {4}healthcheck:$/m,
      ])
        expect(service).toMatch(line);
      expect(service).toMatch(/^ {4}user: '[1-9]\d*:[1-9]\d*'$/m);
      expect(service).toMatch(/^ {4}(build: \.|image: \$\{\w+:-\w+:\d+\.\d+(\.\d+)?-\w+\})$/m);
    }
    for (const line of [
      /^ {2}read_only: true$/m,
      /^ {2}cap_drop: \[ALL\]$/m,
      /^ {2}security_opt: \['no-new-privileges:true'\]$/m,
    ])
      expect(compose.slice(0, compose.indexOf('\nservices:'))).toMatch(line);
    expect(dockerfile).toMatch(/^ARG NODE=node:\d+\.\d+\.\d+-slim$/m);
  });

  it('is accepted by docker compose config, and not without a password', ({ skip }) => {
    const composer = installedComposer();
    if (!composer) return skip('Docker Compose is not installed');
    const example = readFileSync('.env.example', 'utf8');
    const accepted = composeConfig(
      composer,
      folder(),
      example.replace('POSTGRES_PASSWORD=', 'POSTGRES_PASSWORD=secret'),
    );
    expect([accepted.status, accepted.stderr]).toEqual([0, '']);
    for (const resolved of ['postgres://tapegraph:secret@postgres:5432/tapegraph', 'postgres:18.4-trixie'])
      expect(accepted.stdout).toContain(resolved);
    const refused = composeConfig(composer, folder(), example);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain('POSTGRES_PASSWORD');
  });

  it('is labelled with the version of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(image).toContain(`org.opencontainers.image.version="${version}"`);
  });

  it('has a health check that passes while the server answers, and fails when nothing does', async () => {
    const [program, ...args] = JSON.parse(/HEALTHCHECK[\s\S]*?CMD (\[.+\])$/m.exec(image)![1]!) as string[];
    expect(program).toBe('node');
    const check = async (port: number) =>
      (await once(spawn(process.execPath, args, { env: { PORT: String(port) } }), 'exit'))[0];
    const store = await storeForThisTest();
    const { ready } = await served([], { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn' });
    expect(await check(ready.port)).toBe(0);
    expect(await check(1)).toBe(1);
  });
});
