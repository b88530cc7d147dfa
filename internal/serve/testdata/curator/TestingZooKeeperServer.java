package org.apache.curator.test;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;

import org.apache.curator.test.compatibility.Timing2;

/** In place of the class of this name in curator-test: a server is a process zkServer.sh, which is killed when it shall stop. */
public class TestingZooKeeperServer implements Closeable {
    private final QuorumConfigBuilder builder;
    private final int index;
    private Process server;
    private boolean closed;

    public TestingZooKeeperServer(QuorumConfigBuilder builder) {
        this(builder, 0);
    }

    public TestingZooKeeperServer(QuorumConfigBuilder builder, int index) {
        this.builder = builder;
        this.index = index;
    }

    public Collection<InstanceSpec> getInstanceSpecs() {
        return builder.getInstanceSpecs();
    }

    public InstanceSpec getInstanceSpec() {
        return builder.getInstanceSpec(index);
    }

    public void start() throws Exception {
        if (server != null || closed) {
            return;
        }
        int port = getInstanceSpec().getPort();
        Path folder = getInstanceSpec().getDataDirectory().toPath().resolve("srv1");
        Files.createDirectories(folder);
        Path configuration = folder.resolve("zoo.cfg");
        Files.writeString(configuration, "tickTime=" + new Timing2().tickTime() + "\nclientPort=" + port + "\n");
        server = new ProcessBuilder("zkServer.sh", "start-foreground", configuration.toString()).redirectErrorStream(true).start();
        for (long began = System.nanoTime(); !listens(port); Thread.sleep(5)) {
            if (!server.isAlive() || System.nanoTime() - began > 10_000_000_000L) {
                throw new IOException("no server: " + new BufferedReader(new InputStreamReader(server.getInputStream())).readLine());
            }
        }
    }

    private static boolean listens(int port) {
        try (Socket s = new Socket("127.0.0.1", port)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    public void restart() throws Exception {
        if (closed) {
            throw new IllegalStateException("it is closed");
        }
        stop();
        start();
    }

    public void kill() {
        if (server == null) {
            return;
        }
        server.destroyForcibly();
        while (listens(getInstanceSpec().getPort())) {
            Thread.yield();
        }
        server = null;
    }

    public void stop() {
        kill();
    }

    @Override
    public void close() throws IOException {
        kill();
        closed = true;
        DirectoryUtils.deleteRecursively(getInstanceSpec().getDataDirectory());
    }
}
