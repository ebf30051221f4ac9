-- Two threads hand a number to and fro; see pingpong.scm.
import Control.Concurrent
import Control.Monad
import System.Environment

main :: IO ()
main = runInUnboundThread $ do
  arguments <- getArgs
  let rounds = case arguments of { (n : _) -> read n; [] -> 1000 }
  ping <- newEmptyMVar
  pong <- newEmptyMVar
  _ <- forkIO (forever (takeMVar ping >>= \n -> putMVar pong $! n + 1))
  let loop :: Int -> Int -> IO Int
      loop i n
        | i == rounds = return n
        | otherwise = putMVar ping n >> takeMVar pong >>= loop (i + 1)
  loop 0 0 >>= print
