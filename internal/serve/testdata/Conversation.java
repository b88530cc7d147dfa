import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.ClientInfo;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

/** What ZooKeeper's own client for Java sees of each of several servers, which should be the same. */
public class Conversation {
    private static final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

    /** Of each server two addresses are given: its own, and that of a link that whoever started this can cut. */
    public static void main(String[] addresses) throws Exception {
        for (int i = 0; i < addresses.length; i += 2) {
            System.out.println("== server " + i / 2);
            new Conversation(addresses[i], addresses[i + 1]).hold();
        }
        System.exit(0);
    }

    private final String direct;
    private final String link;

    private Conversation(String direct, String link) {
        this.direct = direct;
        this.link = link;
    }

    /** A client and what it has heard. */
    private static final class Client implements Watcher {
        final BlockingQueue<WatchedEvent> events = new LinkedBlockingQueue<>();
        final String name;
        final ZooKeeper zk;

        Client(String name, String address, int timeout) throws Exception {
            this.name = name;
            zk = new ZooKeeper(address, timeout, this);
            hear(1);
        }

        Client(String name, String address, int timeout, Client of) throws Exception {
            this.name = name;
            zk = new ZooKeeper(address, timeout, this, of.zk.getSessionId(), of.zk.getSessionPasswd());
            hear(1);
        }

        @Override
        public void process(WatchedEvent e) {
            events.add(e);
        }

        /** Tells of as many events, and that there are no more. */
        void hear(int n) throws Exception {
            for (int i = 0; i < n; i++) {
                WatchedEvent e = events.poll(15, TimeUnit.SECONDS);
                System.out.println(name + " hears " + (e == null ? "nothing" : e.getState() + " " + e.getType() + " " + e.getPath()));
            }
            if (!events.isEmpty()) {
                System.out.println(name + " hears too much: " + events);
            }
        }
    }

    private interface Call {
        Object run() throws Exception;
    }

    private static void say(String what, Call call) throws Exception {
        String answer;
        try {
            answer = String.valueOf(call.run());
        } catch (KeeperException e) {
            answer = e.code() + " " + e.getPath();
            if (e.getResults() != null) {
                answer += " " + results(e.getResults());
            }
        }
        System.out.println(what + ": " + answer);
    }

    private static List<String> results(List<OpResult> list) {
        List<String> told = new ArrayList<>();
        for (OpResult r : list) {
            if (r instanceof OpResult.ErrorResult) {
                told.add("error " + ((OpResult.ErrorResult) r).getErr());
            } else if (r instanceof OpResult.CreateResult) {
                told.add("create " + ((OpResult.CreateResult) r).getPath());
            } else {
                told.add(r.getClass().getSimpleName());
            }
        }
        return told;
    }

    private static String told(Stat s) {
        boolean recent = Math.abs(System.currentTimeMillis() - s.getMtime()) < 60_000;
        return "version " + s.getVersion() + " cversion " + s.getCversion() + " aversion " + s.getAversion() + " length "
            + s.getDataLength() + " children " + s.getNumChildren() + " ephemeral " + (s.getEphemeralOwner() != 0)
            + " recent " + recent + " in order " + (s.getCtime() <= s.getMtime() && s.getCzxid() <= s.getMzxid());
    }

    private static List<String> sorted(List<String> list) {
        List<String> copy = new ArrayList<>(list);
        Collections.sort(copy);
        return copy;
    }

    private void hold() throws Exception {
        Client a = new Client("a", direct, 6_000);
        System.out.println("for " + a.zk.getSessionTimeout());
        nodes(a);
        transactions(a);
        watches(a);
        access(a);
        reconnection(a);
        expiry(a);
        locks();
        a.zk.close();
        a.hear(1);
    }

    private void nodes(Client a) throws Exception {
        byte[] data = "x".getBytes();
        say("create", () -> a.zk.create("/n", data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        say("again", () -> a.zk.create("/n", data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        say("nowhere", () -> a.zk.create("/no/n", data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        Stat stat = new Stat();
        for (CreateMode mode : CreateMode.values()) {
            say(mode.name(), () -> a.zk.create("/n/" + mode.toFlag() + "-", null, Ids.OPEN_ACL_UNSAFE, mode, stat,
                mode.isTTL() ? 1_000 : -1));
        }
        say("stat", () -> told(stat));
        say("children", () -> sorted(a.zk.getChildren("/n", false)));
        say("data", () -> a.zk.getData("/n/0-", false, stat) + " " + told(stat));
        say("set", () -> told(a.zk.setData("/n", "yz".getBytes(), 0)));
        say("set late", () -> a.zk.setData("/n", data, 0));
        say("exists", () -> told(a.zk.exists("/n", false)));
        say("not", () -> a.zk.exists("/m", false));
        say("delete", () -> { a.zk.delete("/n", -1); return "done"; });
        say("under ephemeral", () -> a.zk.create("/n/1-/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        say("ephemerals", () -> sorted(a.zk.getEphemerals("/n")));
        say("below", () -> a.zk.getAllChildrenNumber("/n"));
        CountDownLatch done = new CountDownLatch(1);
        a.zk.sync("/n", (rc, path, context) -> {
            System.out.println("sync " + rc + " " + path);
            done.countDown();
        }, null);
        done.await();
        say("config", () -> a.zk.getConfig(false, stat).length >= 0);
    }

    private void transactions(Client a) throws Exception {
        say("multi", () -> results(a.zk.multi(List.of(Op.check("/n", 1),
            Op.create("/n/t-", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL),
            Op.create("/n/c", null, Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER), Op.setData("/n", null, 1),
            Op.delete("/n/0-", -1)))));
        say("failing", () -> results(a.zk.multi(List.of(Op.create("/n/f", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
            Op.check("/n", 1), Op.delete("/n/f", -1)))));
        say("reads", () -> results(a.zk.multi(List.of(Op.getData("/n"), Op.getChildren("/m")))));
        say("transaction", () -> results(a.zk.transaction().create("/n/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)
            .delete("/n/x", 0).commit()));
    }

    private void watches(Client a) throws Exception {
        Client b = new Client("b", direct, 6_000);
        b.zk.create("/w", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        say("data", () -> a.zk.getData("/w", true, null) == null);
        say("children", () -> a.zk.getChildren("/w", true));
        say("exists", () -> a.zk.exists("/w/later", true));
        b.zk.setData("/w", null, -1);
        b.zk.create("/w/later", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        b.zk.setData("/w", null, -1);
        a.hear(3);
        say("standing", () -> { a.zk.addWatch("/w", AddWatchMode.PERSISTENT); return "done"; });
        b.zk.addWatch("/w", AddWatchMode.PERSISTENT_RECURSIVE);
        b.zk.create("/w/deep", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        b.zk.create("/w/deep/er", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        b.zk.delete("/w/deep/er", -1);
        b.zk.delete("/w/deep", -1);
        a.hear(2);
        b.hear(4);
        say("remove", () -> { a.zk.removeAllWatches("/w", Watcher.WatcherType.Any, false); return "done"; });
        a.hear(1);
        say("remove again", () -> { a.zk.removeAllWatches("/w", Watcher.WatcherType.Any, false); return "done"; });
        say("last", () -> told(a.zk.exists("/w/later", true)));
        b.zk.close();
        a.hear(1);
        b.hear(2);
    }

    private void access(Client a) throws Exception {
        Client b = new Client("b", direct, 6_000);
        a.zk.addAuthInfo("digest", "user:secret".getBytes());
        say("mine", () -> a.zk.create("/mine", null, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT));
        for (Client c : List.of(a, b)) {
            say(c.name + " reads", () -> c.zk.getData("/mine", false, null) == null);
            say(c.name + " asks", () -> c.zk.getACL("/mine", new Stat()));
            say(c.name + " writes", () -> told(c.zk.setData("/mine", null, -1)));
            say(c.name + " makes", () -> c.zk.create("/mine/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL));
        }
        List<ACL> open = new ArrayList<>(Ids.CREATOR_ALL_ACL);
        open.addAll(Ids.READ_ACL_UNSAFE);
        say("opened", () -> told(a.zk.setACL("/mine", open, 0)));
        say("late", () -> a.zk.setACL("/mine", open, 0));
        say("b asks", () -> b.zk.getACL("/mine", new Stat()));
        say("nobody", () -> b.zk.create("/theirs", null, Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT));
        List<String> who = new ArrayList<>();
        for (ClientInfo info : a.zk.whoAmI()) {
            who.add(info.getAuthScheme() + " " + info.getUser());
        }
        System.out.println("who " + sorted(who));
        b.zk.addAuthInfo("unknown", "x".getBytes());
        b.hear(1);
        b.zk.close();
    }

    /** Has whoever started this cut the link, changes what is watched, and has the link mended. */
    private void reconnection(Client a) throws Exception {
        Client c = new Client("c", link, 6_000);
        long session = c.zk.getSessionId();
        a.zk.create("/r", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        a.zk.create("/r/still", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        c.zk.create("/r/own", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        c.zk.getData("/r", true, null);
        c.zk.getData("/r/still", true, null);
        c.zk.getChildren("/r", true);
        c.zk.exists("/r/new", true);
        c.zk.addWatch("/r/still", AddWatchMode.PERSISTENT_RECURSIVE);
        ask("cut");
        c.hear(1);
        a.zk.setData("/r", null, -1);
        a.zk.create("/r/new", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        ask("mend");
        c.hear(4);
        System.out.println("the same session " + (c.zk.getSessionId() == session));
        a.zk.setData("/r/still", null, -1);
        c.hear(1);
        say("own", () -> told(a.zk.exists("/r/own", false)));
        c.zk.close();
        c.hear(1);
    }

    private static void ask(String for_) throws Exception {
        System.out.println(for_);
        in.readLine();
    }

    /** A session ends under its client when another client that knows its password closes it. */
    private void expiry(Client a) throws Exception {
        Client b = new Client("b", direct, 6_000);
        b.zk.create("/e", null, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        say("watched", () -> told(a.zk.exists("/e", true)));
        new Client("b again", direct, 6_000, b).zk.close();
        a.hear(1);
        b.hear(2);
        say("over", () -> b.zk.exists("/e", false));
        b.zk.close();
    }

    /** The recipe that comes with ZooKeeper. */
    private void locks() throws Exception {
        List<Client> clients = new ArrayList<>();
        List<WriteLock> locks = new ArrayList<>();
        // One locker learns that it holds in its own thread, maybe before the other has come to say that it has released.
        BlockingQueue<String> held = new LinkedBlockingQueue<>();
        BlockingQueue<String> released = new LinkedBlockingQueue<>();
        for (int i = 0; i < 3; i++) {
            Client c = new Client("locker " + i, direct, 6_000);
            clients.add(c);
            WriteLock lock = new WriteLock(c.zk, "/locks", Ids.OPEN_ACL_UNSAFE, new LockListener() {
                @Override
                public void lockAcquired() {
                    held.add(c.name + " holds");
                }

                @Override
                public void lockReleased() {
                    released.add(c.name + " has released");
                }
            });
            locks.add(lock);
            System.out.println(c.name + " locks: " + lock.lock());
        }
        System.out.println(held.poll(15, TimeUnit.SECONDS));
        for (int i = 0; i < 3; i++) {
            System.out.println(i + " owns " + locks.get(i).isOwner());
            if (i == 1) {
                clients.get(1).zk.close(); // a holder that dies
            } else {
                locks.get(i).unlock();
                System.out.println(released.poll(15, TimeUnit.SECONDS));
            }
            if (i < 2) {
                System.out.println(held.poll(15, TimeUnit.SECONDS));
            }
        }
        for (Client c : clients) {
            c.zk.close();
        }
    }
}
